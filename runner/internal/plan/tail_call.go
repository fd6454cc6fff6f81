package plan

import (
	"fmt"

	"github.com/org/ebpf-bench-action/internal/object"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// tailCalls says which programs of the object reach this one with a tail call,
// or returns "" if none does.
func tailCalls(o *object.Object, program string) string {
	if callers := o.TailCallers()[program]; len(callers) > 0 {
		return fmt.Sprintf("program %s is the target of a tail call, of %s", program, unit.Few(callers))
	}
	return ""
}
