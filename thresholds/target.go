package thresholds

import (
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/stat"
)

// leastPercent is the effect in percent to plan for if a threshold allows nothing: no
// number of loads can detect a growth of zero.
const leastPercent = 0.5

// PlanLoads returns a plan that says how many loads each benchmark in a comparison of
// tests benchmarks needs to catch what Target asks for. The plan gets the base measured
// against a second load of the base. It returns 0 if that is too little evidence.
func (p *Policy) PlanLoads(tests int) func(pilot *bench.Pair) int {
	return func(pilot *bench.Pair) int {
		plan, err := stat.PlanLoads(pilot, bench.Latency.Name, p.Target(pilot.Benchmark, tests))
		if err != nil {
			return 0
		}
		return plan.Loads
	}
}

// Target returns what to plan a comparison of a benchmark's latency for, as one of several
// tests: to catch half of the percentage that its threshold allows, in two measurements
// together, so that a growth beyond the threshold is clear of it. It ignores thresholds for
// certain kernels.
func (p *Policy) Target(benchmark string, tests int) stat.Target {
	t := stat.Target{Effect: leastPercent / 100.0, Confidence: DefaultConfidence, Tests: tests, Power: Power}
	rule := p.rule(subject{benchmark: benchmark, measure: bench.Latency.Name})
	if rule != nil {
		t.Confidence = rule.Confidence
		if percent := value(rule.Percent); percent > 0 {
			t.Effect = percent / 2 / 100
		}
	}
	t.Alpha = certain * (1 - t.Confidence)
	return t
}
