package bpfmap

import (
	"debug/elf"
	"slices"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/rlimit"

	"github.com/org/ebpf-bench-action/internal/object"
	"github.com/org/ebpf-bench-action/internal/object/objecttest"
	"github.com/org/ebpf-bench-action/internal/testenv"
)

// sums is an object whose program returns the sum of a constant, a variable
// that starts as zero, and the second and third number of an array.
func sums(t *testing.T) *object.Object {
	t.Helper()
	address := []byte{0x18, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	add := func(offset byte) []byte {
		return []byte{0x61, 0x12, offset, 0, 0, 0, 0, 0, 0x0f, 0x20, 0, 0, 0, 0, 0, 0}
	}
	code := slices.Concat(
		[]byte{0xb7, 0, 0, 0, 0, 0, 0, 0},
		address, add(0), address, add(0), address, add(4), add(8),
		[]byte{0x95, 0, 0, 0, 0, 0, 0, 0})
	variable := func(name, section string, size uint64) objecttest.Symbol {
		return objecttest.Symbol{Name: name, Section: section, Bind: elf.STB_GLOBAL, Type: elf.STT_OBJECT, Size: size}
	}
	o, err := object.Parse((&objecttest.Object{
		Sections: []objecttest.Section{
			{Name: "xdp", Flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, Data: code},
			{Name: ".rodata", Flags: elf.SHF_ALLOC, Data: []byte{7, 0, 0, 0}},
			{Name: ".bss", Flags: elf.SHF_ALLOC | elf.SHF_WRITE, Type: elf.SHT_NOBITS, Size: 4},
			{Name: ".data", Flags: elf.SHF_ALLOC | elf.SHF_WRITE, Data: make([]byte, 12)},
			{Name: "license", Data: []byte("GPL\x00")},
		},
		Symbols: []objecttest.Symbol{
			{Name: "sum", Section: "xdp", Bind: elf.STB_GLOBAL, Type: elf.STT_FUNC, Size: uint64(len(code))},
			variable("constant", ".rodata", 4), variable("zero", ".bss", 4), variable("array", ".data", 12),
		},
		Relocations: []objecttest.Relocation{
			{Section: "xdp", Offset: 8, Symbol: "constant"}, {Section: "xdp", Offset: 40, Symbol: "zero"}, {Section: "xdp", Offset: 72, Symbol: "array"},
		},
	}).Build())
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestGlobals(t *testing.T) {
	testenv.Root(t)
	if err := rlimit.RemoveMemlock(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		globals map[string]any
		want    uint32
	}{
		{nil, 7},
		{map[string]any{"constant": 42}, 42},
		{map[string]any{"constant": uint64(1<<32 - 1), "zero": 2}, 1},
		{map[string]any{"zero": -7}, 0},
		{map[string]any{"array": "00000000 01000000 64000000"}, 7 + 1 + 100},
	} {
		spec, _ := sums(t).Program("sum")
		if err := SetGlobals(spec, c.globals); err != nil {
			t.Errorf("%v: %v", c.globals, err)
			continue
		}
		coll, err := ebpf.NewCollection(spec)
		if err != nil {
			t.Fatalf("%+v", err)
		}
		got, _, err := coll.Programs["sum"].Test(make([]byte, 64))
		coll.Close()
		if err != nil {
			t.Fatal(err)
		}
		if got != c.want {
			t.Errorf("with %v the program returns %d, want %d", c.globals, got, c.want)
		}
	}
}

func TestGlobalsThatDoNotFit(t *testing.T) {
	for _, c := range []struct {
		name  string
		value any
		says  string
	}{
		{"constnat", 1, `no global "constnat" (did you mean "constant"?): it uses array, constant, zero`},
		{"constant", 1 << 32, "4294967296 does not fit 4 bytes"},
		{"zero", -1<<31 - 1, "does not fit 4 bytes"},
		{"array", 1, "12 bytes, which no integer has: write them as hex digits"},
		{"array", "0102", `"0102" has 2 bytes, not 12`},
		{"array", "zz", "no string of hex digits"},
		{"zero", nil, "no value"},
		{"zero", float64(1 << 63 * 2), "does not fit into 64 bits"},
		{"zero", 1.5, "not an integer, bool or string"},
	} {
		spec, _ := sums(t).Program("sum")
		err := SetGlobals(spec, map[string]any{c.name: c.value})
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v: %v, want %q", c.name, c.value, err, c.says)
		}
	}
}
