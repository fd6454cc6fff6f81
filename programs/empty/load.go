//go:build linux

package empty

import (
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
)

// Like returns the spec of an empty program of the same type as p, for the same
// hook.
func Like(p *ebpf.ProgramSpec) (*ebpf.ProgramSpec, error) {
	all, err := loadBpf()
	if err != nil {
		return nil, err
	}
	for _, e := range all.Programs {
		if e.Type == p.Type {
			return forHookOf(p, e), nil
		}
	}
	// The meaning of a return value depends on the hook; 0 never stops
	// anything.
	name := "empty_" + strings.ToLower(p.Type.String())
	return forHookOf(p, &ebpf.ProgramSpec{
		Name: name, Type: p.Type, License: "Dual BSD/GPL",
		Instructions: returns(name, asm.Mov.Imm(asm.R0, 0)),
	}), nil
}

func forHookOf(p, e *ebpf.ProgramSpec) *ebpf.ProgramSpec {
	if p.AttachType == ebpf.AttachSkSKBStreamParser {
		// A parser returns the length of the message: all that is there.
		e.Instructions = returns(e.Name, asm.LoadMem(asm.R0, asm.R1, 0, asm.Word))
	}
	e.AttachType, e.AttachTo, e.AttachTarget, e.Flags = p.AttachType, p.AttachTo, p.AttachTarget, p.Flags
	e.SectionName = p.SectionName
	return e
}

// returns returns a program that returns what one instruction has in R0. It has
// the type that a compiler would give it, because the kernel traces no program
// without one.
func returns(name string, r0 asm.Instruction) asm.Instructions {
	typ := &btf.FuncProto{
		Return: &btf.Int{Name: "int", Size: 4, Encoding: btf.Signed},
		Params: []btf.FuncParam{{Name: "ctx", Type: &btf.Pointer{Target: &btf.Void{}}}},
	}
	r0 = btf.WithFuncMetadata(r0.WithSymbol(name), &btf.Func{Name: name, Type: typ, Linkage: btf.GlobalFunc})
	return asm.Instructions{r0, asm.Return()}
}
