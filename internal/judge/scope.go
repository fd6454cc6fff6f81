package judge

import (
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/thresholds"
)

// Scope returns what the thresholds that judge results can apply to.
func Scope(merged *bench.Results) (scope thresholds.Scope) {
	on := func(testbed *bench.Testbed) {
		scope.Kernels = append(scope.Kernels, thresholds.KernelOf(testbed))
		scope.Modes = unit.AppendNew(scope.Modes, testbed.Mode)
	}
	seen := map[thresholds.Benchmark]bool{}
	of := func(r *bench.Result) {
		b := thresholds.Benchmark{Name: r.Benchmark, Driver: r.Driver}
		if !seen[b] {
			seen[b] = true
			scope.Benchmarks = append(scope.Benchmarks, b)
		}
		scope.AddUnits(r)
	}
	for _, run := range merged.Runs {
		on(&run.Testbed)
		for i := range run.Results {
			of(&run.Results[i])
		}
	}
	for _, c := range merged.Comparisons {
		on(&c.Testbed)
		for _, p := range c.Pairs {
			if p.Head != nil {
				of(p.Head)
			} else {
				of(p.Base)
			}
		}
	}
	return scope
}
