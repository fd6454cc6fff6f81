package thresholds

import (
	"math"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/stat"
)

// leastPercent is the effect in percent that is planned for where a threshold
// allows nothing: no number of loads tells a growth of zero.
const leastPercent = 1

// Target is what a comparison of a benchmark's latency is to be planned for,
// as one of several tests: to catch half of the percentage that its threshold
// allows, in both measurements, so that a growth beyond the threshold is clear
// of it. Thresholds for certain kernels are left aside.
func (p *Policy) Target(benchmark string, tests int) stat.Target {
	t := stat.Target{Effect: leastPercent / 100.0, Alpha: 1 - DefaultConfidence, Tests: tests, Power: math.Sqrt(Power)}
	rule := p.rule(subject{benchmark: benchmark, measure: bench.Latency.Name})
	if rule == nil {
		return t
	}
	t.Alpha = 1 - rule.Confidence
	if percent := value(rule.Percent); percent > 0 {
		t.Effect = percent / 2 / 100
	}
	return t
}
