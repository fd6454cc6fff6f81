package insn

import (
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
)

// functions finds the functions of a program. They start at its start, and
// where something calls or points to them or BTF says so.
func functions(program string, insns asm.Instructions, targets []int) []Function {
	starts := make([]bool, len(insns))
	starts[0] = true
	for i := range insns {
		if targets[i] != none && insns[i].IsFunctionReference() {
			starts[targets[i]] = true
		}
		if btf.FuncMetadata(&insns[i]) != nil {
			starts[i] = true
		}
	}

	var all []Function
	for i := range insns {
		if !starts[i] {
			continue
		}
		name := insns[i].Symbol()
		if name == "" {
			name = program
		}
		if len(all) > 0 {
			all[len(all)-1].End = i
		}
		all = append(all, Function{Name: name, Start: i, End: len(insns)})
	}
	return all
}

// parameters returns how many arguments a global function has according to BTF.
// Only global functions count: the kernel verifies them separately, by BTF, so
// every call reads all their arguments.
func parameters(start *asm.Instruction) (n int, global bool) {
	f := btf.FuncMetadata(start)
	if f == nil || f.Linkage != btf.GlobalFunc {
		return 0, false
	}
	proto, ok := f.Type.(*btf.FuncProto)
	if !ok {
		return 0, false
	}
	return len(proto.Params), true
}
