// Package bytecode says what an instruction of BPF is by itself: its text, where it is
// and leads to, and which helper it calls.
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

// HelperOf is the helper that an instruction calls, if it is one of the kernel's.
func HelperOf(ins *asm.Instruction) (Helper, bool) {
	if !ins.IsBuiltinCall() || ins.Constant <= 0 || ins.Constant >= int64(len(helpers)) {
		return Helper{}, false
	}
	return helpers[ins.Constant], true
}

// Calls is the name of the helper or the kfunc that an instruction calls, empty if
// it calls none.
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
