package object

import (
	"debug/elf"
	"slices"
)

// fixCalls makes calls of functions look like LLVM's. GCC 12 writes the
// position of a function in its section even if the symbol has it, too, and in
// bytes instead of instructions.
func (f *file) fixCalls() (changes []string) {
	const (
		call       = 0x85
		pseudoCall = 1
	)
	fixed := 0
	for r := range f.relocations() {
		// The registers of a call are one half of a byte each, in either order.
		if r.ins[0] != call || r.ins[1] != pseudoCall && r.ins[1] != pseudoCall<<4 {
			continue
		}
		has := f.constant(r.ins)
		if is := f.callee(&r.symbol, has); is != has {
			f.setConstant(r.ins, is)
			fixed++
		}
	}
	if fixed > 0 {
		changes = append(changes, "calls name their function as LLVM's do, instead of as GCC 12's")
	}
	return changes
}

// callee returns the constant that a call of a symbol must have: -1, meaning
// none, for a function symbol, and for a section symbol the called instruction
// minus one.
func (f *file) callee(sym *elf.Sym64, has uint32) uint32 {
	const nowhere = 1<<32 - 1
	switch elf.ST_TYPE(sym.Info) {
	case elf.STT_FUNC:
		if uint64(has)+1 == sym.Value || uint64(has)+1 == sym.Value/8 {
			return nowhere
		}
	case elf.STT_SECTION:
		starts := func(at uint64) bool {
			return slices.ContainsFunc(f.symbols(int(sym.Shndx)), func(s symbol) bool { return s.Value == at })
		}
		if bytes := uint64(has) + 1; has != nowhere && bytes%8 == 0 && starts(bytes) && !starts(8*bytes) {
			return uint32(bytes/8) - 1
		}
	}
	return has
}
