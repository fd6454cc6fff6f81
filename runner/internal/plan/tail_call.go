package plan

import (
	"fmt"

	"github.com/org/ebpf-bench-action/internal/object"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/runner/internal/hook"
)

// tailCalls says of a program that others of its object reach it by a tail call,
// empty where none does.
func tailCalls(o *object.Object, program string) string {
	if callers := o.TailCallers()[program]; len(callers) > 0 {
		return fmt.Sprintf("program %s is the target of a tail call, of %s", program, unit.Few(callers))
	}
	return ""
}

// warnOfTailCall says that a program is attached by itself which runs only when
// others call it.
func (j *Job) warnOfTailCall(called string) {
	if !hook.IsTracing(j.ProgramSpec().Type) || j.Command == nil {
		return
	}
	if called != "" {
		j.Warnings = append(j.Warnings, called+": here the program is measured on a hook of its own")
	}
}
