package object

import (
	"debug/elf"
	"slices"
	"testing"

	"github.com/org/ebpf-bench-action/internal/object/objecttest"
)

// GCC 12 writes the position of the function into a call, in bytes minus one.
func TestCallsOfGCC(t *testing.T) {
	call := []byte{0x85, 0x10, 0, 0, 15, 0, 0, 0}
	for _, symbol := range []string{"called", ".text"} {
		o := small()
		o.Sections[0].Data = slices.Concat(call, objecttest.Exit)
		o.Symbols[0].Size = 24
		o.Sections = append(o.Sections, objecttest.Section{Name: ".text", Flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, Data: slices.Concat(objecttest.Exit, objecttest.Exit)})
		o.Symbols = append(o.Symbols,
			objecttest.Symbol{Name: ".text", Section: ".text", Type: elf.STT_SECTION},
			objecttest.Symbol{Name: "other", Section: ".text", Bind: elf.STB_GLOBAL, Type: elf.STT_FUNC, Size: 16},
			objecttest.Symbol{Name: "called", Section: ".text", Bind: elf.STB_GLOBAL, Type: elf.STT_FUNC, Value: 16, Size: 16})
		o.Relocations = append(o.Relocations, objecttest.Relocation{Section: "xdp", Symbol: symbol})
		read, err := Parse(o.Build())
		if err != nil {
			t.Errorf("%s: %v", symbol, err)
			continue
		}
		spec, changes := read.Program("prog")
		insns := spec.Programs["prog"].Instructions
		if len(insns) != 5 || insns[0].Constant != -1 || insns[0].Reference() != "called" || insns[3].Symbol() != "called" {
			t.Errorf("%s: instructions:\n%v", symbol, insns)
		}
		hasChange(t, changes, "GCC")
	}
}
