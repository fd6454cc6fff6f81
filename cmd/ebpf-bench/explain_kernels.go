package main

import (
	"context"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/fleet"
	"github.com/org/ebpf-bench-action/internal/sides"
)

// onKernel counts on one kernel. An explanation that ended early comes with the
// error that ended it.
func (f *explainFlags) onKernel(ctx context.Context, vms *fleet.Fleet, s *sides.Explained, name string) (*bench.Explanation, error) {
	plan := s.ExplainPlan
	plan.Code = f.code()
	g, err := guestJob{Sides: &s.Objects, Explain: &plan}.guest(s.Suite)
	if err != nil {
		return nil, err
	}
	all := pairNames(s.Pairs)
	e, info, err := explanations.of(ctx, vms, name, all, g)
	err = loseExplained(e, all, err)
	if e != nil {
		e.Testbed.QEMU, e.Started = info.QEMU, info.Started
		s.Name(e)
	}
	return e, err
}

// loseExplained adds the benchmark that was being counted when the machine failed:
// the first that was not reported.
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
