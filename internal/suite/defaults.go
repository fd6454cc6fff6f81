package suite

import (
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// DefaultBudget is the measuring time of a benchmark that sets none.
const DefaultBudget = time.Second

func setDefaults(benchmarks []bench.Benchmark, budget bench.Duration) {
	for i := range benchmarks {
		b := &benchmarks[i]
		b.Budget = first(b.Budget, budget, bench.Duration(DefaultBudget))
		for _, m := range b.Maps {
			if m.Generate != nil {
				m.Generate.Keys = first(m.Generate.Keys, bench.PatternNumbered)
				m.Generate.Values = first(m.Generate.Values, bench.PatternZero)
			}
		}
		SetDriverDefaults(b)
	}
}

// SetDriverDefaults fills in what the suite leaves to the benchmark's driver,
// except for test_run and veth, whose defaults depend on the program's type.
func SetDriverDefaults(b *bench.Benchmark) {
	switch {
	case b.PerfEvent != nil:
		setPerfEventDefaults(b.PerfEvent)
	case b.Cgroup != nil:
		setExchangeDefaults(b.Cgroup)
	case b.Socket != nil:
		setExchangeDefaults(b.Socket)
	case b.Command != nil:
		setCommandDefaults(b.Command)
	}
}

func setPerfEventDefaults(p *bench.PerfEvent) {
	p.Event = first(p.Event, "cpu-clock")
	if p.Period == 0 {
		p.Frequency = first(p.Frequency, 9999)
	}
	p.Scope = first(p.Scope, bench.ScopeProcess)
	p.Window = first(p.Window, bench.Duration(20*time.Millisecond))
	if p.Load.Command == nil && p.Load.PID == 0 {
		p.Load.CPU = first(p.Load.CPU, 1)
	}
}

func setExchangeDefaults(e *bench.Exchange) {
	e.Size = first(e.Size, 64)
	e.Count = first(e.Count, 500)
	e.Port = first(e.Port, 7)
}

func setCommandDefaults(c *bench.Command) {
	c.Timeout = first(c.Timeout, bench.Duration(10*time.Second))
}

// first returns the first value that is set.
func first[T comparable](values ...T) T {
	var zero T
	for _, v := range values {
		if v != zero {
			return v
		}
	}
	return zero
}
