package report

import (
	"fmt"
	"math"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// inParallel says on how many CPUs a program ran at once, and what that cost.
func inParallel(r *Row) string {
	text := fmt.Sprintf("run on %d CPUs at once", r.CPUs)
	if s, ok := r.Get(bench.Contention); ok {
		than := "more"
		if s.Center < 0 {
			than = "less"
		}
		text += fmt.Sprintf(": a run costs %s %s than on one CPU alone", unit.NS(math.Abs(s.Center)), than)
	}
	return text
}
