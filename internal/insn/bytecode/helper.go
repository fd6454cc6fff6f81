// Package bytecode describes single instructions of BPF: their text, where they
// are and lead to, and which helpers they call.
package bytecode

//go:generate go run gen_helpers.go

import (
	"cmp"
	"fmt"

	"github.com/cilium/ebpf/asm"
)

// Helper is a helper function of the kernel.
type Helper struct {
	Name      string
	Arguments int // how many it takes
}

// HelperOf returns the helper that an instruction calls, if it is one of the
// kernel's.
func HelperOf(ins *asm.Instruction) (Helper, bool) {
	if !ins.IsBuiltinCall() || ins.Constant <= 0 || ins.Constant >= int64(len(helpers)) {
		return Helper{}, false
	}
	return helpers[ins.Constant], true
}

// Calls returns the name of the helper or the kfunc that an instruction calls,
// or "".
func Calls(ins *asm.Instruction) string {
	if ins.IsKfuncCall() {
		return cmp.Or(ins.Reference(), "a kfunc")
	}
	if h, ok := HelperOf(ins); ok {
		return h.Name
	}
	if ins.IsBuiltinCall() {
		return fmt.Sprintf("helper %d", ins.Constant)
	}
	return ""
}
