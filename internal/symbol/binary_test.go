package symbol

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/org/ebpf-bench-action/internal/symbol/budget"
	"github.com/org/ebpf-bench-action/internal/testenv"
)

// stack is frames as text: each function with its line, innermost first.
func stack(frames []Frame) string {
	var all []string
	for _, f := range frames {
		all = append(all, fmt.Sprintf("%s:%d", f.Func, f.Line))
	}
	return strings.Join(all, " < ")
}

// functionsOf returns the functions in the symbols of a file.
func functionsOf(t *testing.T, path string) map[string]elf.Symbol {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]elf.Symbol{}
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Size > 0 {
			all[s.Name] = s
		}
	}
	return all
}

// inlinedStacks are the stacks that testdata/inlined.c can have within outer.
var inlinedStacks = []string{
	"outer:13", "outer:14", "outer:15", "outer:16", "outer:17",
	"middle:9 < outer:16", "middle:10 < outer:16",
	"leaf:4 < outer:16", "leaf:4 < middle:10 < outer:16",
}

// checkInlined checks the frames of all addresses of a program made from
// testdata/inlined.c.
func checkInlined(t *testing.T, b *Binary, functions map[string]elf.Symbol) {
	t.Helper()
	seen := map[string]bool{}
	for _, name := range []string{"outer", "hidden"} {
		s, ok := functions[name]
		if !ok {
			t.Fatalf("no function %s", name)
		}
		for addr := s.Value; addr < s.Value+s.Size; addr++ {
			frames := b.Frames(addr)
			if len(frames) == 0 || frames[len(frames)-1].Func != name {
				t.Fatalf("%#x: %v is not in %s", addr, frames, name)
			}
			for i, f := range frames {
				if filepath.Base(f.File) != "inlined.c" || f.Inlined != (i < len(frames)-1) {
					t.Errorf("%#x: %+v", addr, frames)
				}
			}
			if at := stack(frames); name == "outer" {
				seen[at] = true
				if !slices.Contains(inlinedStacks, at) {
					t.Errorf("%#x: %s", addr, at)
				}
			}
		}
	}
	for _, must := range []string{"outer:15", "middle:9 < outer:16", "leaf:4 < outer:16", "leaf:4 < middle:10 < outer:16"} {
		if !seen[must] {
			t.Errorf("no address is %s: %v", must, seen)
		}
	}
}

// Programs of several compilers, versions of DWARF, sizes of addresses and kinds of
// compression.
func TestFramesOfCompiledPrograms(t *testing.T) {
	paths, _ := filepath.Glob("testdata/*.elf")
	if len(paths) < 6 {
		t.Fatalf("testdata has only %v", paths)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			b, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			checkInlined(t, b, functionsOf(t, path))
			if strings.Contains(path, "gcc") && len(b.BuildID()) != 40 {
				t.Errorf("build ID %q", b.BuildID())
			}
			if frames := b.Frames(0x10); frames != nil {
				t.Errorf("outside the code: %v", frames)
			}
		})
	}
}

// A function is from where its symbol is, as long as that says, and its code what the file has.
func TestExtentAndCode(t *testing.T) {
	for _, path := range []string{"testdata/gcc-5.elf", "testdata/gcc-5-32.elf"} {
		b, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		f, err := elf.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		text := f.Section(".text")
		data, err := text.Data()
		if err != nil {
			t.Fatal(err)
		}
		s := functionsOf(t, path)["outer"]
		for _, addr := range []uint64{s.Value, s.Value + s.Size - 1} {
			if start, end, ok := b.Extent(addr); !ok || start != s.Value || end != s.Value+s.Size {
				t.Errorf("%s: %#x: from %#x to %#x, %v", path, addr, start, end, ok)
			}
		}
		if code, err := b.Code(s.Value, s.Value+s.Size); err != nil || !bytes.Equal(code, data[s.Value-text.Addr:][:s.Size]) {
			t.Errorf("%s: code %x, %v", path, code, err)
		}
		if _, _, ok := b.Extent(0x10); ok {
			t.Errorf("%s: there is a function outside the code", path)
		}
		for _, wrong := range [][2]uint64{{0x10, 0x20}, {s.Value, s.Value - 1}, {1<<64 - 16, 1<<64 - 1}} {
			if code, err := b.Code(wrong[0], wrong[1]); err == nil {
				t.Errorf("%s: there is code from %#x to %#x: %x", path, wrong[0], wrong[1], code)
			}
		}
		if code, err := b.Code(s.Value, s.Value+1<<40); err != nil || len(code) < int(s.Size) || len(code) > 1<<20 {
			t.Errorf("%s: %d bytes of code, %v", path, len(code), err)
		}
	}
}

func run(t *testing.T, command string, args ...string) {
	t.Helper()
	if out, err := exec.Command(command, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", command, args, err, out)
	}
}

// compiled returns a program that this machine's compiler made of testdata/inlined.c.
func compiled(t *testing.T, flags ...string) string {
	t.Helper()
	testenv.Tools(t, "gcc", "objcopy")
	path := filepath.Join(t.TempDir(), "program")
	run(t, "gcc", append(flags, "-g", "-O2", "-nostdlib", "-static", "-Wl,--build-id=sha1", "-o", path, "testdata/inlined.c")...)
	return path
}

func TestFramesOfThisCompiler(t *testing.T) {
	path := compiled(t)
	b, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	checkInlined(t, b, functionsOf(t, path))
}

// Debug information may be in a file of its own: beside the program if the sum is
// right, or below the root of a container, where links are relative to that.
func TestSeparateDebugFiles(t *testing.T) {
	path := compiled(t)
	functions := functionsOf(t, path)
	dir := t.TempDir()
	debug, stripped := filepath.Join(dir, "program.debug"), filepath.Join(dir, "program")
	run(t, "objcopy", "--only-keep-debug", path, debug)
	run(t, "objcopy", "--strip-all", "--add-gnu-debuglink="+debug, path, stripped)
	open := func() *Binary {
		b, err := Open(stripped)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { b.Close() })
		return b
	}
	checkInlined(t, open(), functions)

	data, err := os.ReadFile(debug)
	if err != nil {
		t.Fatal(err)
	}
	testenv.Write(t, debug, append(data, 0))
	if frames := open().Frames(functions["outer"].Value); frames != nil {
		t.Errorf("with another sum: %v", frames)
	}
}

// A program of Go has frames by its debug information, and those that are not inlined
// by the table of the runtime, which is there in any case.
func TestFramesOfGo(t *testing.T) {
	testenv.Tools(t, "go")
	dir := t.TempDir()
	source := filepath.Join(dir, "main.go")
	testenv.Write(t, source, []byte(`package main

var n int

func leaf(p *int) { *p *= 3 }

func middle(p *int) { *p++; leaf(p) }

//go:noinline
func outer(p *int) {
	*p += 2
	middle(p)
}

func main() { outer(&n) }
`))
	path, stripped := filepath.Join(dir, "program"), filepath.Join(dir, "stripped")
	run(t, "go", "build", "-o", path, source)
	run(t, "go", "build", "-ldflags=-s -w", "-o", stripped, source)
	outer := functionsOf(t, path)["main.outer"]
	seen := func(path string) map[string]bool {
		b, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		all := map[string]bool{}
		for addr := outer.Value; addr < outer.Value+outer.Size; addr++ {
			frames := b.Frames(addr)
			if len(frames) == 0 || frames[0].File != source {
				t.Fatalf("%s: %#x: %v", path, addr, frames)
			}
			all[stack(frames)] = true
		}
		return all
	}
	all := seen(path)
	for _, must := range []string{"main.outer:11", "main.middle:7 < main.outer:12", "main.leaf:5 < main.middle:7 < main.outer:12"} {
		if !all[must] {
			t.Errorf("no address is %s: %v", must, all)
		}
	}
	all = seen(stripped)
	for _, must := range []string{"main.outer:11", "main.outer:7", "main.outer:5"} {
		if !all[must] {
			t.Errorf("stripped: no address is %s: %v", must, all)
		}
	}
}

// However little of the budget is left, frames are right or missing, and where some are, it
// is exceeded.
func TestFramesWithinABudget(t *testing.T) {
	paths, _ := filepath.Glob("testdata/*.elf")
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		outer := functionsOf(t, path)["outer"]
		framesWithin := func(left *budget.Budget) (all [][]Frame) {
			b, err := New(bytes.NewReader(data), left)
			if err != nil {
				return make([][]Frame, outer.Size)
			}
			for addr := outer.Value; addr < outer.Value+outer.Size; addr++ {
				all = append(all, b.Frames(addr))
			}
			return all
		}
		want, symbol := framesWithin(nil), []Frame{{Func: "outer"}}
		enough := false
		for size := int64(1); size < 1<<20; size += size/8 + 1 {
			left := budget.New(size)
			missing := false
			for i, got := range framesWithin(left) {
				if slices.Equal(got, want[i]) {
					continue
				}
				missing = true
				if got != nil && !slices.Equal(got, symbol) {
					t.Fatalf("%s: within %d bytes, %v, want %v", path, size, got, want[i])
				}
			}
			if missing && !left.Exceeded() {
				t.Fatalf("%s: within %d bytes, frames are missing, but the budget is not exceeded", path, size)
			}
			enough = !missing
		}
		if !enough {
			t.Errorf("%s: frames are missing within 1 MiB", path)
		}
	}
}

// What is made of a file, and what is read of it as a whole, is counted, too.
func TestWhatIsMadeOfAFileIsCounted(t *testing.T) {
	f, err := Open("testdata/gcc-5.elf")
	check(t, err)
	defer f.Close()
	sections := f.image.Section(".symtab").Size + f.image.Section(".strtab").Size
	unwound, err := Open(compiled(t, "-fasynchronous-unwind-tables"))
	check(t, err)
	defer unwound.Close()
	summed, err := os.Open("testdata/inlined.c")
	check(t, err)
	defer summed.Close()
	text, err := io.ReadAll(summed)
	check(t, err)
	for _, c := range []struct {
		name  string
		takes uint64
		done  func(*budget.Budget) bool
	}{
		{"headers", 4<<10 + 128*1000, func(b *budget.Budget) bool {
			_, err := New(bytes.NewReader(notesOf(1000)), b)
			return err == nil
		}},
		{"symbols", sections + f.image.Section(".symtab").Size/24*symbolSize, func(b *budget.Budget) bool {
			return len(image{f.image.File, b}.symbolTable(".symtab", ".strtab").symbols) > 0
		}},
		{"call frames", unwound.image.Section(".eh_frame").Size, func(b *budget.Budget) bool {
			frames, _, _ := (&Binary{image: image{unwound.image.File, b}}).CallFrames()
			return frames != nil
		}},
		{"lines of a perf map", 2 * symbolSize, func(b *budget.Budget) bool { return parsePerfMap([]byte("1 1 a\n2 1 b\n"), b) != nil }},
		{"a sum", uint64(len(text)), func(b *budget.Budget) bool { return hasSum(summed, crc32.ChecksumIEEE(text), b) }},
		{"names", uint64(unsafe.Sizeof(Frame{})) + 7, func(b *budget.Budget) bool { return takeFrames(b, []Frame{{Func: "name", File: "f.c"}}) }},
		{"the file and the lines of Go", 4 + 2, func(b *budget.Budget) bool {
			frame, _ := parseGoTable(goTableOf(), binary.LittleEndian, 0x1000, 0x100, b).frame(0x1008)
			return frame == Frame{Func: "main.f", File: "f.go", Line: 12}
		}},
	} {
		if c.done(budget.New(int64(c.takes) - 1)) {
			t.Errorf("%s: less than %d bytes were enough", c.name, c.takes)
		}
		if !c.done(budget.New(int64(c.takes))) {
			t.Errorf("%s: %d bytes were not enough", c.name, c.takes)
		}
	}
	left := budget.New(1 << 20)
	outer := functionsOf(t, "testdata/gcc-5.elf")["outer"]
	f.image.budget = left
	for range 1 << 20 {
		f.Frames(outer.Value)
	}
	if !left.Exceeded() {
		t.Error("frames take nothing")
	}
}

// counter counts the bytes that are read.
type counter struct {
	io.ReaderAt
	n int
}

func (c *counter) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(p, at)
	c.n += n
	return n, err
}

// notesOf returns an executable with segments that have the same 64 KiB of notes, none of them
// a build ID.
func notesOf(segments int) []byte {
	const header, entry, size = 64, 56, 64 << 10
	le := binary.LittleEndian
	data := make([]byte, header+segments*entry+size)
	copy(data, elf.ELFMAG+"\x02\x01\x01")
	le.PutUint16(data[16:], uint16(elf.ET_DYN))
	le.PutUint16(data[18:], uint16(elf.EM_X86_64))
	le.PutUint32(data[20:], 1)
	le.PutUint64(data[32:], header)
	for i, n := range []int{header, entry, segments, header} {
		le.PutUint16(data[52+2*i:], uint16(n))
	}
	for i := range segments {
		p := data[header+i*entry:]
		le.PutUint32(p, uint32(elf.PT_NOTE))
		le.PutUint64(p[8:], uint64(header+segments*entry))
		le.PutUint64(p[32:], size)
	}
	return data
}

// Opening a file reads its headers and few notes, however many it claims to have.
func TestOpeningReadsLittle(t *testing.T) {
	r := &counter{ReaderAt: bytes.NewReader(notesOf(1000))}
	if _, err := New(r, nil); err != nil || r.n > 256<<10 {
		t.Errorf("%d bytes were read, %v", r.n, err)
	}
	r = &counter{ReaderAt: bytes.NewReader(notesOf(5000))}
	if _, err := New(r, nil); err == nil || r.n > 256<<10 {
		t.Errorf("of 5000 segments, %d bytes were read, %v", r.n, err)
	}
}

func TestDemangled(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"main", "main"},
		{"memcpy@@GLIBC_2.14", "memcpy"},
		{"_Zsomething", "_Zsomething"},
		{"_ZN2ns3addEii", "ns::add(int, int)"},
		{"_ZN2ns3addEii.cold", "ns::add(int, int) [clone .cold]"},
		{"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt"},
		{"_RNvCs1234_7mycrate3foo", "mycrate::foo"},
		{"_Z" + strings.Repeat("N", maxMangled), "_Z" + strings.Repeat("N", maxMangled)},
	} {
		if got := demangled(c.name); got != c.want {
			t.Errorf("%.40s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestOffsetsHaveAddresses(t *testing.T) {
	segment := func(kind elf.ProgType, flags elf.ProgFlag, off, vaddr, size uint64) *elf.Prog {
		return &elf.Prog{ProgHeader: elf.ProgHeader{Type: kind, Flags: flags, Off: off, Vaddr: vaddr, Filesz: size}}
	}
	b := &Binary{image: image{File: &elf.File{Progs: []*elf.Prog{
		segment(elf.PT_NOTE, elf.PF_R, 0, 0x9000, 0x9000),
		segment(elf.PT_LOAD, elf.PF_R, 0, 0x400000, 0x1500),
		segment(elf.PT_LOAD, elf.PF_R|elf.PF_X, 0x1000, 0x402000, 0x800),
		segment(elf.PT_LOAD, elf.PF_R|elf.PF_W, 0x1800, 0x403800, 0x800),
	}}}}
	for offset, want := range map[uint64]uint64{0x10: 0x400010, 0x1000: 0x402000, 0x17ff: 0x4027ff, 0x1800: 0x403800, 0x2000: 0, ^uint64(0): 0} {
		if got, ok := b.Address(offset); got != want || ok != (want != 0) {
			t.Errorf("offset %#x: %#x, %t, want %#x", offset, got, ok, want)
		}
	}
}

// A file that is not an executable, or claims more than is plausible, is refused.
func TestImplausibleFilesAreRefused(t *testing.T) {
	data, err := os.ReadFile("testdata/gcc-5.elf")
	if err != nil {
		t.Fatal(err)
	}
	le := binary.LittleEndian
	names := func(d []byte) []byte { // the header of the section with the names of sections
		return d[le.Uint64(d[40:])+64*uint64(le.Uint16(d[62:])):]
	}
	for name, change := range map[string]func([]byte) []byte{
		"empty":     func([]byte) []byte { return nil },
		"text":      func([]byte) []byte { return bytes.Repeat([]byte("text "), 100) },
		"truncated": func(d []byte) []byte { return d[:len(d)-64] },
		"object":    func(d []byte) []byte { d[16] = byte(elf.ET_REL); return d },
		"sections":  func(d []byte) []byte { le.PutUint16(d[60:], 5000); return d },
		"names":     func(d []byte) []byte { le.PutUint64(names(d)[32:], 1<<20); return d },
		"compression": func(d []byte) []byte {
			at, size := le.Uint64(names(d)[24:]), le.Uint64(names(d)[32:])
			packed := bytes.NewBuffer(le.AppendUint64(le.AppendUint64(le.AppendUint64(nil, uint64(elf.COMPRESS_ZLIB)), size), 1))
			w := zlib.NewWriter(packed)
			_, err := w.Write(d[at : at+size])
			check(t, errors.Join(err, w.Close()))
			le.PutUint64(names(d)[8:], uint64(elf.SHF_COMPRESSED))
			le.PutUint64(names(d)[24:], uint64(len(d)))
			le.PutUint64(names(d)[32:], uint64(packed.Len()))
			return append(d, packed.Bytes()...)
		},
	} {
		if _, err := New(bytes.NewReader(change(slices.Clone(data))), nil); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// goTableOf returns a table of Go with one function at the start of the code: its first
// line is 10 for 8 bytes, its second one 12.
func goTableOf() []byte {
	le := binary.LittleEndian
	data := le.AppendUint32(nil, goMagic120)
	data = append(data, 0, 0, 1, 8)
	const names, units, files, values, entries = 72, 88, 96, 112, 128
	for _, n := range []uint64{1, 1, 0, names, units, files, values, entries} {
		data = le.AppendUint64(data, n)
	}
	put := func(at int, more ...byte) { data = append(append(data, make([]byte, at-len(data))...), more...) }
	put(names, []byte("main.f\x00")...)
	put(units, 0, 0, 0, 0)
	put(files, []byte("f.go\x00")...)
	// At 0 the file, 0 for 16 bytes; at 4 the lines.
	put(values, 2, 16, 0, 0, 22, 8, 4, 8, 0)
	for _, n := range []uint32{0, 12, 16 /* the end of the last one */, 0, 0, 0, 0, 0, 0, 4, 0, 0} {
		put(max(entries, len(data)), le.AppendUint32(nil, n)...)
	}
	return data
}

func TestTableOfGo(t *testing.T) {
	table := parseGoTable(goTableOf(), binary.LittleEndian, 0x1000, 0x100, nil)
	if table == nil {
		t.Fatal("no table")
	}
	for addr, want := range map[uint64]Frame{
		0xfff:  {},
		0x1000: {Func: "main.f", File: "f.go", Line: 10},
		0x1007: {Func: "main.f", File: "f.go", Line: 10},
		0x1008: {Func: "main.f", File: "f.go", Line: 12},
		0x1010: {},
	} {
		if got, ok := table.frame(addr); got != want || ok != (want != Frame{}) {
			t.Errorf("%#x: %+v, want %+v", addr, got, want)
		}
		if start, end, ok := table.extent(addr); ok != (want != Frame{}) || ok && (start != 0x1000 || end != 0x1010) {
			t.Errorf("%#x: from %#x to %#x", addr, start, end)
		}
	}
}

func FuzzGoTable(f *testing.F) {
	f.Add(goTableOf(), uint64(0x1008))
	f.Fuzz(func(t *testing.T, data []byte, addr uint64) {
		for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
			if table := parseGoTable(data, order, 0x1000, 0x100, budget.New(1<<20)); table != nil {
				table.frame(addr)
				table.frame(0x1000)
				table.extent(addr)
			}
		}
	})
}

func FuzzBinary(f *testing.F) {
	paths, _ := filepath.Glob("testdata/*.elf")
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := New(bytes.NewReader(data), budget.New(1<<20))
		if err != nil {
			return
		}
		b.Address(0x100)
		for _, c := range b.code {
			_, _ = b.Code(c.Low, c.Low+64)
			b.Extent(c.Low)
			for i := range min(c.High-c.Low, 64) {
				for _, frame := range b.Frames(c.Low + i*max(1, (c.High-c.Low)/64)) {
					if frame.Line < 0 {
						t.Errorf("line %d", frame.Line)
					}
				}
			}
		}
	})
}
