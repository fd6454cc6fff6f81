package insn

import (
	"slices"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"
)

// Repeatable tells whether the programs do the same each time that they are given
// the same: whether they have no map that they could write, and call nothing that
// answers by time, chance or what else is going on. What they read in the kernel
// itself is not seen.
func (t *Table) Repeatable(spec *ebpf.CollectionSpec) bool {
	for _, p := range t.Programs {
		for i := range p.Instructions {
			ins := &p.Instructions[i]
			switch f := asm.BuiltinFunc(ins.Constant); {
			case ins.IsKfuncCall():
				return false
			case ins.IsBuiltinCall() && (slices.Contains(ambientHelpers, f) || slices.Contains(storeHelpers, f) && f != asm.FnTailCall):
				return false
			case ins.IsLoadFromMap() && !constant(spec.Maps[ins.Reference()]):
				return false
			}
		}
	}
	return true
}

// constant tells whether a program cannot change what a map says.
func constant(m *ebpf.MapSpec) bool {
	return m != nil && (m.Type == ebpf.ProgramArray || m.Flags&unix.BPF_F_RDONLY_PROG != 0)
}
