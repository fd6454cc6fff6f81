package scaffold

import (
	"fmt"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/thresholds"
)

const thresholdsHead = `# What ebpf-bench judges by. Written by ebpf-bench init; it is yours to change.
# What it does not say, the built-in thresholds say: how much the static figures
# may grow before there is a warning, for one.
`

const growth = `
  # How much a run may cost more than in the base, which compare and the action
  # judge: time up to 2% or half a nanosecond, whichever is more, and not one
  # instruction where these are counted.
  - {measure: latency, percent: 2, absolute: 0.5}
  - {measure: instructions, percent: 0}
`

const budgets = `
  # The verifier gives up on a program after a million instructions, and a newer
  # kernel may need more of them than an older one: leave it some room.
  - {measure: verified-insns, max: 800000}

  # What must not be exceeded at all, which run judges by itself:
`

// ThresholdsText returns the file of thresholds for the benchmarks of a suite.
// It judges like the built-in thresholds, and has a budget for the verifier's
// work.
func (s *Suite) ThresholdsText() string {
	w := &writer{}
	w.raw("# yaml-language-server: $schema=" + thresholds.SchemaURL + "\n#\n" + thresholdsHead)
	w.line(0, "version: %d", thresholds.Version)
	w.raw("thresholds:")
	example := ""
	for _, p := range s.Benchmarks() {
		if p.Drives() != bench.DriverVerify {
			w.raw(growth)
			example = p.Benchmark
			break
		}
	}
	w.raw(budgets)
	if example != "" {
		w.raw(fmt.Sprintf("  # - {benchmark: %s, measure: latency, max: 1000} # ns\n", scalar(example)))
		w.raw(fmt.Sprintf("  # - {benchmark: %s, measure: instructions, max: 500}\n", scalar(example)))
	}
	w.raw("  # - {measure: map-memory, max: 16777216} # bytes\n")
	return w.String()
}
