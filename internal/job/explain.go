package job

import (
	"context"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/fleet"
	"github.com/org/ebpf-bench-action/internal/sides"
)

// Explanations counts what the lines of sides execute on the kernels, as many concurrently
// as there are CPUs; if code is set, also the instructions of each line. If nothing was
// counted on a kernel, it has no explanation, and the error says why.
func (o Options) Explanations(ctx context.Context, on *fleet.Fleet, kernels []string, s *sides.Explained, code bool) ([]*bench.Explanation, error) {
	return fleet.Each(kernels, func(_ int, name string) (*bench.Explanation, error) {
		began := time.Now()
		e, err := o.explain(ctx, on, s, name, code)
		if e != nil {
			o.done(&e.Testbed, began, err)
		}
		return e, err
	})
}

// explain counts on one kernel. An explanation that ended early comes with the error that
// ended it.
func (o Options) explain(ctx context.Context, on *fleet.Fleet, s *sides.Explained, name string, code bool) (*bench.Explanation, error) {
	plan := s.ExplainPlan
	plan.Code = code
	g, err := job{Sides: &s.Objects, Explain: &plan}.guest(s.Suite)
	if err != nil {
		return nil, err
	}
	all := pairNames(s.Pairs)
	e, info, err := explanations.of(ctx, on, name, all, g, func(bench.Explanation) {})
	err = loseExplained(e, all, err)
	if e != nil {
		e.Partial = err != nil
		e.Testbed.ByDefault, e.Testbed.QEMU, e.Started = o.ByDefault, info.QEMU, info.Started
		s.Name(e)
	}
	return e, err
}

// loseExplained adds the benchmark that was being counted when the machine failed: the
// first that was not reported.
func loseExplained(e *bench.Explanation, all []string, err error) error {
	if e == nil || len(e.Programs) >= len(all) || fleet.Loss(err) == "" {
		return err
	}
	r := &bench.Result{Benchmark: all[len(e.Programs)]}
	err = fleet.Lose(r, err)
	e.Programs = append(e.Programs, bench.Explained{Benchmark: r.Benchmark, Error: r.Error, Hint: r.Hint})
	return err
}

var explanations = guestReports[bench.Explanation]{
	decode: bench.DecodeExplanation,
	add: func(all, latest *bench.Explanation) *bench.Explanation {
		if all != nil {
			latest.Programs = append(all.Programs, latest.Programs...)
		}
		return latest
	},
	done: func(e *bench.Explanation) int { return len(e.Programs) },
}
