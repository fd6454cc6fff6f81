package runner

import (
	"context"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/thread"
	"github.com/org/ebpf-bench-action/runner/internal/count"
	"github.com/org/ebpf-bench-action/runner/internal/load"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
)

// Explain counts which BPF instructions runs of benchmarks execute, line by
// line, for both sides of a pair, or for the head alone if there is no base.
// With code, it adds the instructions of each line and an estimate of what the
// JIT compiled them to.
//
// The explanation does not name its sides. Benchmarks that fail carry their
// errors. An explanation that ended early comes with the error that ended it.
func Explain(ctx context.Context, pairs []PairJob, o Options, code bool) (*bench.Explanation, error) {
	if err := prepare(ctx, &o); err != nil {
		return nil, err
	}
	out := &bench.Explanation{
		Tool:     o.Tool,
		Testbed:  testbed(o.Mode),
		Started:  time.Now().UTC().Truncate(time.Second),
		Programs: []bench.Explained{},
	}
	o.Progress.Start(len(pairs), 0)
	defer o.Progress.Done()
	err := thread.Own(func() error {
		if _, err := thread.Pin(); err != nil {
			return err
		}
		for _, p := range plan.FitPairs(pairs, plan.Adapt) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			program := count.Explain(ctx, p, code)
			load.Settle(ctx)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			out.Programs = append(out.Programs, program)
			o.Progress.Round()
		}
		return nil
	})
	if err != nil && len(out.Programs) == 0 {
		return nil, err
	}
	out.Partial = err != nil
	return out, err
}
