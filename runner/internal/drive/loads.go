package drive

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/workload/perf"
	"github.com/org/ebpf-bench-action/internal/workload/worker"
)

// loads are the workers of loads, by what they do. The programs on hooks share
// them, because each is attached only for its turn.
type loads map[string]*worker.Worker

// start returns the worker of a load, and starts it if there is none.
func (l *loads) start(ctx context.Context, c *bench.Command) (*worker.Worker, error) {
	key := fmt.Sprintf("%q", append([]string{c.Load, c.Syscall, time.Duration(c.Timeout).String()}, c.Run...))
	if w := (*l)[key]; w != nil {
		return w, nil
	}
	w, err := startLoad(ctx, c)
	if err != nil {
		return nil, err
	}
	if *l == nil {
		*l = loads{}
	}
	(*l)[key] = w
	return w, nil
}

// end ends a worker, such as one that did not follow an order.
func (l loads) end(w *worker.Worker) (err error) {
	for key, one := range l {
		if one == w {
			delete(l, key)
			err = w.Close()
		}
	}
	return err
}

func (l loads) endAll() (err error) {
	for _, w := range l {
		err = errors.Join(err, l.end(w))
	}
	return err
}

// sampled are the loads that perf events sample, by what they do. They run only during a
// slice of one program, whose event is the only one that counts then.
type sampled map[string]*perf.Load

// start returns a load, and starts it if there is none. A command is started for each
// program: it may end.
func (s *sampled) start(desc bench.Load) (l *perf.Load, shared bool, err error) {
	shared = len(desc.Command) == 0
	key := fmt.Sprintf("%+v", desc)
	switch l = (*s)[key]; {
	case l == nil:
	case l.Err() == nil:
		return l, shared, nil
	default:
		_ = l.Close() // it has ended
	}
	if l, err = perf.StartLoad(desc); err != nil || !shared {
		return l, shared, err
	}
	if *s == nil {
		*s = sampled{}
	}
	(*s)[key] = l
	return l, shared, nil
}

func (s *sampled) endAll() (err error) {
	for _, l := range *s {
		err = errors.Join(err, l.Close())
	}
	*s = nil
	return err
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
