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

func openCommand(ctx context.Context, p *ebpf.Program, j *plan.Job) (d Driver, err error) {
	h, err := j.Hook()
	if err != nil {
		return nil, err
	}
	if h.Reads() {
		return openIterator(h, p, j)
	}
	a := &attached{count: 1}
	defer func() {
		if err != nil {
			_ = a.Close()
		}
	}()
	// Start the worker before the program is attached, so that it does not see
	// the start.
	if a.worker, err = startLoad(ctx, j.Command); err != nil {
		return nil, err
	}
	if a.link, err = h.Attach(p); err != nil {
		return nil, bench.WithHint(fmt.Errorf("attach to %s: %w", h.Section, err), bench.Hint(err))
	}
	if len(j.Command.Run) > 0 {
		return a, nil
	}
	a.count = j.Command.Count
	if !isQuick(j.Command.Load) {
		return &repeated{a}, nil
	}
	return &quick{repeated: &repeated{a}, program: p}, nil
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
