package symbol

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/org/ebpf-bench-action/internal/testenv"
)

func TestMapsAreParsed(t *testing.T) {
	const text = `00400000-0040b000 r-xp 00001000 fd:01 1234                               /usr/bin/a program
0060a000-0060b000 r--p 0000a000 fd:01 1234                               /usr/bin/a program
7f0000000000-7f0000001000 rwxp 00000000 00:00 0 
7f0000002000-7f0000003000 r-xs 00002000 00:1f 42                         /tmp/with\012feed (deleted)
7ffff7fc1000-7ffff7fc3000 r-xp 00000000 00:00 0                          [vdso]
ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]
`
	want := []Mapping{
		{Start: 0x400000, End: 0x40b000, Offset: 0x1000, Device: 0xfd<<32 | 1, Inode: 1234, Path: "/usr/bin/a program"},
		{Start: 0x7f0000000000, End: 0x7f0000001000},
		{Start: 0x7f0000002000, End: 0x7f0000003000, Offset: 0x2000, Device: 0x1f, Inode: 42, Path: "/tmp/with\nfeed", Deleted: true},
		{Start: 0x7ffff7fc1000, End: 0x7ffff7fc3000, Path: "[vdso]"},
		{Start: 0xffffffffff600000, End: 0xffffffffff601000, Path: "[vsyscall]"},
	}
	got, err := ParseMaps(strings.NewReader(text))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v\nwant %+v", got, err, want)
	}
	for _, bad := range []string{"x", "1-2", "2-1 r-xp 0 0:0 0", "1-2 r-xp g 0:0 0", "1-2 r-xp 0 00 0", "1-2 rx 0 0:0 0", "1-20000000000000000 r-xp 0 0:0 0"} {
		if all, err := ParseMaps(strings.NewReader(bad + "\n")); err == nil {
			t.Errorf("%q: %+v", bad, all)
		}
	}
}

func FuzzMaps(f *testing.F) {
	f.Add("00400000-0040b000 r-xp 00001000 fd:01 1234 /usr/bin/a program\n7f0000002000-7f0000003000 r-xs 00002000 00:1f 42 /a\\012b (deleted)\n")
	f.Fuzz(func(t *testing.T, text string) {
		all, _ := ParseMaps(strings.NewReader(text))
		for _, m := range all {
			if m.Start >= m.End {
				t.Errorf("%+v", m)
			}
		}
	})
}

func TestPerfMapsAreParsed(t *testing.T) {
	perf := parsePerfMap([]byte("1000 10 first\n0x2000 20 LazyCompile:~f a.js:1\n1000 8 later\nmalformed\n3000 zz name\n3000 0 empty\n4000 10 being writ"))
	for addr, want := range map[uint64]string{0xfff: "", 0x1000: "later", 0x1008: "", 0x201f: "LazyCompile:~f a.js:1", 0x2020: "", 0x3000: "", 0x4000: ""} {
		got := ""
		if s := perf.at(addr); s != nil {
			got = perf.name(s)
		}
		if got != want {
			t.Errorf("%#x: %q, want %q", addr, got, want)
		}
	}
}

func FuzzPerfMap(f *testing.F) {
	f.Add([]byte("1000 10 first\n0x2000 20 second name\n1000 8 later\n"), uint64(0x1004))
	f.Fuzz(func(t *testing.T, text []byte, addr uint64) {
		perf := parsePerfMap(text)
		if s := perf.at(addr); s != nil && (perf.name(s) == "" || s.addr > addr || addr-s.addr >= s.size) {
			t.Errorf("%#x: %+v", addr, s)
		}
	})
}

// own returns this process.
func own(t *testing.T) (*Process, *Cache) {
	t.Helper()
	c := NewCache(1 << 30)
	t.Cleanup(c.Close)
	p, err := c.Process(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p, c
}

// The process of the test knows where its functions are.
func TestFramesOfThisProcess(t *testing.T) {
	p, _ := own(t)
	for _, f := range []any{TestFramesOfThisProcess, strings.Fields, fmt.Sprintf, (*Process).Frames} {
		pc := reflect.ValueOf(f).Pointer()
		want := runtime.FuncForPC(pc)
		file, line := want.FileLine(pc)
		frames := p.Frames(uint64(pc))
		if len(frames) != 1 || frames[0].Func != want.Name() || frames[0].File != file || frames[0].Line != line {
			t.Errorf("%+v, want %s at %s:%d", frames, want.Name(), file, line)
		}
		m, ok := p.Mapping(uint64(pc))
		if exe, err := os.Executable(); !ok || err != nil || m.Path != exe {
			t.Errorf("mapping %+v", m)
		}
	}
	if frames := p.Frames(1); frames != nil {
		t.Errorf("at 1: %v", frames)
	}
}

// The vdso has no file: its functions are read from the memory of the process.
func TestFramesOfTheVDSO(t *testing.T) {
	p, _ := own(t)
	i := slices.IndexFunc(p.mappings, func(m mapping) bool { return m.Path == "[vdso]" })
	if i < 0 || p.mappings[i].vdso == nil {
		t.Skip("this kernel has no vdso")
	}
	p.Frames(p.mappings[i].Start)
	for _, table := range p.mappings[i].vdso.symbols {
		for _, s := range table.symbols {
			if frames := p.Frames(p.mappings[i].Start + s.addr); len(frames) != 1 || !strings.HasPrefix(frames[0].Func, "__") {
				t.Errorf("%#x: %v", s.addr, frames)
			}
		}
	}
	if len(p.mappings[i].vdso.symbols) == 0 {
		t.Error("no symbols")
	}
}

// What a just-in-time compiler wrote down counts in memory without a file, if the file
// is of the user. Code that is mapped later is there after an update.
func TestFramesOfAJustInTimeCompiler(t *testing.T) {
	p, _ := own(t)
	code, err := syscall.Mmap(-1, 0, os.Getpagesize(), syscall.PROT_READ|syscall.PROT_EXEC, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		t.Skipf("this machine allows no such memory: %v", err)
	}
	defer func() { _ = syscall.Munmap(code) }()
	addr := uint64(reflect.ValueOf(code).Pointer())
	path := fmt.Sprintf("/tmp/perf-%d.map", p.innerPID)
	testenv.Write(t, path, fmt.Appendf(nil, "%x 10 compiled function\n", addr))
	defer os.Remove(path)
	if frames := p.Frames(addr); frames != nil {
		t.Errorf("before the update: %v", frames)
	}
	if err := p.Update(); err != nil {
		t.Fatal(err)
	}
	if frames := p.Frames(addr + 4); len(frames) != 1 || frames[0].Func != "compiled function" {
		t.Errorf("%v", frames)
	}
	if frames := p.Frames(addr + 16); frames != nil {
		t.Errorf("after the function: %v", frames)
	}
}

func TestProcessesWithoutMappings(t *testing.T) {
	c := NewCache(1 << 20)
	defer c.Close()
	for _, pid := range []int{-1, 1 << 30} {
		if _, err := c.Process(pid); err == nil {
			t.Errorf("process %d: no error", pid)
		}
	}
}

// A cache has each file once, also those with the same build ID, and closes what was
// not used for the longest time.
func TestCacheIsBounded(t *testing.T) {
	c := NewCache(1)
	defer c.Close()
	data, err := os.ReadFile("testdata/gcc-5.elf")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	open := func(name string, data []byte) *cached {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err != nil {
			testenv.Write(t, path, data)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		e, _ := c.file(f, path)
		return e
	}
	first := open("first", data)
	if again, copied := open("first", data), open("copy", data); again != first || copied != first || first.users != 3 {
		t.Errorf("%p, %p and %p, %d users", first, again, copied, first.users)
	}
	if e := open("text", []byte("text")); e.binary != nil {
		t.Errorf("a text is a binary")
	}
	addr := functionsOf(t, "testdata/gcc-5.elf")["outer"].Value
	if len(first.binary.Frames(addr)) == 0 {
		t.Error("no frames")
	}
	c.release(first)
	c.release(first)
	if len(first.binary.Frames(addr)) == 0 {
		t.Error("it was closed while it was used")
	}
	c.release(first)
	open("next", data[:len(data)-1]) // without the end of its section headers
	if first.binary.Frames(addr) != nil {
		t.Error("it is too large and was not closed")
	}
	for i := range maxBinaries + 10 {
		c.release(open(fmt.Sprint(i), binary.LittleEndian.AppendUint64(nil, uint64(i))))
	}
	if len(c.files) > maxBinaries+1 {
		t.Errorf("it has %d files", len(c.files))
	}
}
