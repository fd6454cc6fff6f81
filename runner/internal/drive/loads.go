package drive

import (
	"context"
	"fmt"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/workload/perf"
	"github.com/org/ebpf-bench-action/internal/workload/worker"
)

// workerOf returns the worker of a load. The programs on hooks share it, because each is
// attached only for its turn.
func workerOf(ctx context.Context, e *Environment, c *bench.Command) (*worker.Worker, error) {
	key := fmt.Sprintf("load %q", append([]string{c.Load, c.Syscall, time.Duration(c.Timeout).String()}, c.Run...))
	return openShared(&e.shared, key, func() (*worker.Worker, error) { return startLoad(ctx, c) })
}

// sampledLoad returns a load for a perf event to sample. It runs only during a slice of one
// program, whose event is the only one that counts then, so that programs can share it. A
// command is started for each program: it may end.
func sampledLoad(e *Environment, desc bench.Load) (l *perf.Load, shared bool, err error) {
	if len(desc.Command) > 0 {
		l, err = perf.StartLoad(desc)
		return l, false, err
	}
	key, start := fmt.Sprintf("sampled %+v", desc), func() (*perf.Load, error) { return perf.StartLoad(desc) }
	if l, err = openShared(&e.shared, key, start); err == nil && l.Err() != nil {
		_ = e.shared.end(l) // it has ended
		l, err = openShared(&e.shared, key, start)
	}
	return l, true, err
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
