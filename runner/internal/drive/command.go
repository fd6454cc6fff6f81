package drive

import (
	"context"
	"fmt"
	"time"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/workload/worker"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
)

func openCommand(ctx context.Context, p *ebpf.Program, j *plan.Job) (Driver, error) {
	h, err := j.Hook()
	if err != nil {
		return nil, err
	}
	if h.Reads() {
		return openIterator(h, p, j)
	}
	held, err := h.Hold()
	if err != nil {
		return nil, bench.WithHint(fmt.Errorf("attach to %s: %w", h.Section, err), bench.Hint(err))
	}
	a := &attached{program: p, hook: h, held: held, count: 1}
	if a.worker, err = startLoad(ctx, j.Command); err != nil {
		_ = held.Close()
		return nil, err
	}
	if len(j.Command.Run) > 0 {
		return a, nil
	}
	a.count = j.Command.Count
	if !isQuick(j.Command.Load) {
		return &repeated{a}, nil
	}
	return &quick{repeated: &repeated{a}}, nil
}

func startLoad(ctx context.Context, c *bench.Command) (*worker.Worker, error) {
	switch {
	case len(c.Run) > 0:
		w, err := worker.Start(ctx, "run", append([]string{time.Duration(c.Timeout).String()}, c.Run...), worker.Place{})
		if err == nil {
			w.Limit += time.Duration(c.Timeout)
		}
		return w, err
	case c.Load == bench.LoadSyscalls:
		return worker.Start(ctx, c.Load, []string{c.Syscall}, worker.Place{})
	}
	return worker.Start(ctx, c.Load, nil, worker.Place{})
}
