package object

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/object/objecttest"
)

// small returns an object of one XDP program, as today's compilers make it.
func small() *objecttest.Object {
	return &objecttest.Object{
		Sections: []objecttest.Section{
			{Name: "xdp", Flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, Data: objecttest.Exit},
			{Name: "license", Data: []byte("GPL\x00")},
		},
		Symbols: []objecttest.Symbol{{Name: "prog", Section: "xdp", Bind: elf.STB_GLOBAL, Type: elf.STT_FUNC, Size: 16}},
	}
}

func TestParse(t *testing.T) {
	o, err := Parse(small().Build())
	if err != nil {
		t.Fatal(err)
	}
	spec, changes := o.Program("prog")
	if len(changes) != 0 || spec.Programs["prog"].Type != ebpf.XDP || spec.Programs["prog"].License != "GPL" || o.Entry("prog") == nil || o.Entry("none") != nil {
		t.Errorf("program %+v with changes %q", spec.Programs["prog"], changes)
	}
}

func TestRefused(t *testing.T) {
	le := small().Build()
	patched := func(at int, value ...byte) []byte {
		data := slices.Clone(le)
		copy(data[at:], value)
		return data
	}
	with := func(change func(o *objecttest.Object)) []byte {
		o := small()
		change(o)
		return o.Build()
	}
	for _, c := range []struct {
		name       string
		data       []byte
		says, hint string
	}{
		{"nothing", nil, "not an ELF file", "clang"},
		{"a script", []byte("#!/bin/sh\n"), "not an ELF file", "clang"},
		{"half of it", le[:len(le)/2], "truncated", ""},
		{"its header", le[:64], "truncated", ""},
		{"big endian", with(func(o *objecttest.Object) { o.Order = binary.BigEndian }), "big-endian object, built for bpfeb", "-target bpfel"},
		{"32 bits", patched(elf.EI_CLASS, byte(elf.ELFCLASS32)), "64-bit", "-target bpf"},
		{"another machine", patched(18, byte(elf.EM_X86_64)), "built for x86_64", "-target bpf"},
		{"no sections", patched(40, make([]byte, 8)...), "no sections", ""},
		{"gigabytes of zeroes", with(func(o *objecttest.Object) {
			o.Sections = append(o.Sections, objecttest.Section{Name: ".bss", Type: elf.SHT_NOBITS, Size: 3 << 30})
		}), "more than 64 MiB", ""},
		{"gigabytes of code", with(func(o *objecttest.Object) { o.Sections[0].Size = 3 << 30 }), "truncated", ""},
		{"compressed data", with(func(o *objecttest.Object) { o.Sections[1].Flags = elf.SHF_COMPRESSED }), `"license" is compressed`, ""},
		{"functions over each other", with(func(o *objecttest.Object) {
			o.Sections[0].Data = bytes.Repeat(objecttest.Exit, 8)
			for i := range 8 {
				o.Symbols = append(o.Symbols, objecttest.Symbol{Name: "f" + string(rune('a'+i)), Section: "xdp", Bind: elf.STB_GLOBAL, Type: elf.STT_FUNC, Value: uint64(8 * i), Size: 64})
			}
		}), "symbols overlap", ""},
		{"an unknown section", with(func(o *objecttest.Object) { o.Sections[0].Name, o.Symbols[0].Section = "mine", "mine" }), "no eBPF program of a known type, only sections mine", "kprobe/NAME"},
		{"only data", with(func(o *objecttest.Object) { o.Sections, o.Symbols = o.Sections[1:], nil }), "no eBPF program", ""},
		{"a name of two lines", with(func(o *objecttest.Object) { o.Sections[0].Name, o.Symbols[0].Section = "a\nb\x1b[31m", "a\nb\x1b[31m" }), "sections a b", ""},
	} {
		_, err := Parse(c.data)
		if err == nil {
			t.Errorf("%s: it is read", c.name)
			continue
		}
		oneLine(t, err.Error())
		if !strings.Contains(err.Error(), c.says) || !strings.Contains(bench.Hint(err), c.hint) {
			t.Errorf("%s: %v (hint: %s), want %q (%q)", c.name, err, bench.Hint(err), c.says, c.hint)
		}
	}
}

func hasChange(t *testing.T, changes []string, says string) {
	t.Helper()
	if !slices.ContainsFunc(changes, func(c string) bool { return strings.Contains(c, says) }) {
		t.Errorf("changes %q do not tell %q", changes, says)
	}
}

func TestWithoutALicense(t *testing.T) {
	o := small()
	o.Sections = o.Sections[:1]
	read, err := Parse(o.Build())
	if err != nil {
		t.Fatal(err)
	}
	spec, changes := read.Program("prog")
	if spec.Programs["prog"].License != "GPL" {
		t.Errorf("license %q", spec.Programs["prog"].License)
	}
	hasChange(t, changes, "license is taken to be GPL")
}

func TestLicenseEndsAtZero(t *testing.T) {
	o := small()
	o.Sections[1].Data = []byte("GPL\x00left over")
	read, err := Parse(o.Build())
	if err != nil {
		t.Fatal(err)
	}
	if got := read.Entry("prog").License; got != "GPL" {
		t.Errorf("license %q", got)
	}
}

// LLVM before version 8 wrote neither types nor sizes of symbols.
func TestSymbolsOfOldCompilers(t *testing.T) {
	definition := func(maxEntries uint32) []byte {
		var b []byte
		for _, v := range []uint32{uint32(ebpf.Hash), 4, 8, maxEntries, 0} {
			b = binary.LittleEndian.AppendUint32(b, v)
		}
		return b
	}
	loadMap := []byte{0x18, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	o := &objecttest.Object{
		Sections: []objecttest.Section{
			{Name: "socket", Flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, Data: slices.Concat(loadMap, objecttest.Exit, objecttest.Exit)},
			{Name: "maps", Flags: elf.SHF_ALLOC | elf.SHF_WRITE, Data: slices.Concat(definition(7), definition(0))},
			{Name: "license", Data: []byte("GPL\x00")},
		},
		Symbols: []objecttest.Symbol{
			{Name: "LBB0_1", Section: "socket", Bind: elf.STB_LOCAL, Value: 16},
			{Name: "first", Section: "socket", Bind: elf.STB_GLOBAL},
			{Name: "second", Section: "socket", Bind: elf.STB_GLOBAL, Value: 32},
			{Name: "counts", Section: "maps", Bind: elf.STB_GLOBAL},
			{Name: "others", Section: "maps", Bind: elf.STB_GLOBAL, Value: 20},
		},
		Relocations: []objecttest.Relocation{{Section: "socket", Symbol: "others"}},
	}
	read, err := Parse(o.Build())
	if err != nil {
		t.Fatal(err)
	}
	if names := read.Programs(); !slices.Equal(names, []string{"first", "second"}) {
		t.Fatalf("programs %q", names)
	}
	spec, changes := read.Program("first")
	if n := len(spec.Programs["first"].Instructions); n != 3 {
		t.Errorf("the first program has %d instructions, want 3", n)
	}
	if m := spec.Maps["others"]; len(spec.Maps) != 1 || m == nil || m.Type != ebpf.Hash || m.ValueSize != 8 || m.MaxEntries != raisedEntries {
		t.Errorf("maps %+v", spec.Maps)
	}
	hasChange(t, changes, "function first ends where the next one begins")
	hasChange(t, changes, "map others ends where the next one begins")
	hasChange(t, changes, "map others has 64 entries instead of 0")
	if spec, _ := read.Program("second"); len(spec.Maps) != 0 || len(spec.Programs["second"].Instructions) != 2 {
		t.Errorf("the second program: %+v", spec)
	}
}

// bundled returns one of our own objects, which have all of BTF.
func bundled(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile("../../programs/fun_xdp/fun_xdp_bpfel.o")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestBrokenTypeInformation(t *testing.T) {
	good, err := Parse(bundled(t))
	if err != nil {
		t.Fatal(err)
	}
	f, err := openFile(bundled(t))
	if err != nil {
		t.Fatal(err)
	}
	ext := f.find(".BTF.ext")
	ext.Size = 4
	_, _ = binary.Encode(f.data[ext.at:], f.order, &ext.Section64)
	read, err := Parse(f.data)
	if err != nil {
		t.Fatal(err)
	}
	if want, got := good.Programs(), read.Programs(); !slices.Equal(want, got) {
		t.Errorf("programs %q, want %q", got, want)
	}
	_, changes := read.Program(read.Programs()[0])
	hasChange(t, changes, "section .BTF.ext is left out, because it cannot be read")

	// Types describe maps: without them there is nothing to load.
	clear(f.contents(f.find(".BTF")))
	if _, err := Parse(f.data); err == nil {
		t.Error("an object whose maps have no types is read")
	}
	// An object without such maps can do without types.
	o := small()
	o.Sections = append(o.Sections, objecttest.Section{Name: ".BTF", Data: []byte("no types at all")})
	if read, err = Parse(o.Build()); err != nil {
		t.Fatal(err)
	}
	_, changes = read.Program("prog")
	hasChange(t, changes, "section .BTF is left out")
}

func TestStructOpsOfOldObjects(t *testing.T) {
	o := small()
	o.Sections = append(o.Sections, objecttest.Section{Name: ".struct_ops", Flags: elf.SHF_ALLOC | elf.SHF_WRITE, Data: make([]byte, 64)})
	read, err := Parse(o.Build())
	if err != nil {
		t.Fatal(err)
	}
	_, changes := read.Program("prog")
	hasChange(t, changes, "section .struct_ops is left out")
}
