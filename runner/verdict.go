package runner

import (
	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/internal/object"
	"github.com/org/ebpf-bench-action/runner/internal/load"
)

// verdictHint returns the hint for a program that was loaded but could not be
// driven, or "" if its own verdict cannot be the cause. What the program
// decides applies to the processes of the load and to the tool, as to all
// others.
func verdictHint(j *Job, err error) string {
	p := j.ProgramSpec()
	switch {
	case j.Command == nil || load.IsError(err):
		return ""
	case p.Type == ebpf.LSM, p.AttachType == ebpf.AttachModifyReturn, object.Calls(p, asm.FnOverrideReturn):
		return "the program's own verdict may be what stops the load, or the tool: have it let these pass, such as by what one of its maps holds, or measure it by a load that it does not refuse"
	case object.Calls(p, asm.FnSendSignal), object.Calls(p, asm.FnSendSignalThread):
		return "the program's own signals may be what stops the load: have it spare that, such as by what one of its maps holds"
	}
	return ""
}
