package plan

import (
	"fmt"

	"github.com/org/ebpf-bench-action/internal/object"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/runner/internal/hook"
)

// tailCalls says which programs of the object reach this one with a tail call,
// or returns "" if none does.
func tailCalls(o *object.Object, program string) string {
	if callers := o.TailCallers()[program]; len(callers) > 0 {
		return fmt.Sprintf("program %s is the target of a tail call, of %s", program, unit.Few(callers))
	}
	return ""
}

// warnOfTailCall warns that a program that runs only when others call it is
// attached by itself.
func (j *Job) warnOfTailCall(called string) {
	if !hook.IsTracing(j.ProgramSpec().Type) || j.Command == nil {
		return
	}
	if called != "" {
		j.Warnings = append(j.Warnings, called+": here the program is measured on a hook of its own")
	}
}
