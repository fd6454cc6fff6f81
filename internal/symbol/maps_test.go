package symbol

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/symbol/budget"
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
	perf := parsePerfMap([]byte("1000 10 first\n0x2000 20 LazyCompile:~f a.js:1\n1000 8 later\nmalformed\n3000 zz name\n3000 0 empty\n4000 10 being writ"), nil)
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
		perf := parsePerfMap(text, nil)
		if s := perf.at(addr); s != nil && (perf.name(s) == "" || s.addr > addr || addr-s.addr >= s.size) {
			t.Errorf("%#x: %+v", addr, s)
		}
	})
}

// What a just-in-time compiler wrote down counts if the file is of the user.
func TestPerfMapOfAProcess(t *testing.T) {
	own, err := ReadProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	path := fmt.Sprintf("/tmp/perf-%d.map", own.Number)
	if ReadPerfMap(own, nil, nil) != nil {
		t.Fatalf("%s is there already", path)
	}
	testenv.Write(t, path, []byte("1000 10 compiled function\n"))
	defer os.Remove(path)
	m := ReadPerfMap(own, nil, nil)
	if frames := m.Frames(0x1004); len(frames) != 1 || frames[0].Func != "compiled function" {
		t.Errorf("%v", frames)
	}
	if frames := m.Frames(0x1010); frames != nil {
		t.Errorf("after the function: %v", frames)
	}
	// Of a map that a compiler has long appended to, the end counts.
	const cut, again = "12000 10 cut\n", "\n1000 10 compiled again\n"
	testenv.Write(t, path, []byte(cut))
	check(t, os.Truncate(path, maxPerfMap+1-int64(len(again))))
	appended, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	check(t, err)
	_, err = appended.WriteString(again)
	check(t, errors.Join(err, appended.Close()))
	m = ReadPerfMap(own, nil, budget.New(maxPerfMap+1<<10))
	if frames := m.Frames(0x1004); len(frames) != 1 || frames[0].Func != "compiled again" {
		t.Errorf("%v", frames)
	}
	if frames := m.Frames(0x2004); frames != nil {
		t.Errorf("of a line without its beginning: %v", frames)
	}
	if m := ReadPerfMap(own, nil, budget.New(maxPerfMap-1)); m != nil {
		t.Error("it was read although there was no room")
	}
	var none *PerfMap
	if frames := none.Frames(0x1004); frames != nil {
		t.Errorf("without a map: %v", frames)
	}
}
