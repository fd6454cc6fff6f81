package runner

import (
	"errors"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

// verdictHint is the hint for a program that was loaded and then could not be
// driven, empty where no verdict of the program can be why. What it decides holds
// for the processes of the load, and for the tool, as for all others.
func (j *Job) verdictHint(err error) string {
	var unloaded *classed
	p := j.program()
	switch {
	case j.Command == nil || errors.As(err, &unloaded):
		return ""
	case p.Type == ebpf.LSM, p.AttachType == ebpf.AttachModifyReturn, calls(p, asm.FnOverrideReturn):
		return "the program's own verdict may be what stops the load, or the tool: have it let these pass, such as by what one of its maps holds, or measure it by a load that it does not refuse"
	case calls(p, asm.FnSendSignal), calls(p, asm.FnSendSignalThread):
		return "the program's own signals may be what stops the load: have it spare that, such as by what one of its maps holds"
	}
	return ""
}

// calls tells whether a program calls a helper of the kernel.
func calls(p *ebpf.ProgramSpec, helper asm.BuiltinFunc) bool {
	for i := range p.Instructions {
		if ins := &p.Instructions[i]; ins.IsBuiltinCall() && asm.BuiltinFunc(ins.Constant) == helper {
			return true
		}
	}
	return false
}
