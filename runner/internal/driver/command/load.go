package command

import (
	"context"
	"fmt"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/workload/worker"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
)

// workerOf returns the worker of a load. The programs on hooks share it, because each is
// attached only for its turn.
func workerOf(ctx context.Context, e *driver.Environment, c *bench.Command) (*worker.Worker, error) {
	key := fmt.Sprintf("load %q", append([]string{c.Load, c.Syscall, time.Duration(c.Timeout).String()}, c.Run...))
	return driver.Share(e, key, func() (*worker.Worker, error) { return startLoad(ctx, c) })
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
