package suite

import (
	"cmp"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// DefaultBudget is the measuring time of a benchmark that sets none.
const DefaultBudget = time.Second

func setDefaults(benchmarks []bench.Benchmark, budget bench.Duration) {
	for i := range benchmarks {
		b := &benchmarks[i]
		b.Budget = cmp.Or(b.Budget, budget, bench.Duration(DefaultBudget))
		for _, m := range b.Maps {
			if m.Generate != nil {
				m.Generate.Keys = cmp.Or(m.Generate.Keys, bench.PatternNumbered)
				m.Generate.Values = cmp.Or(m.Generate.Values, bench.PatternZero)
			}
		}
		b.SetDriverDefaults()
	}
}
