package command

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/workload/worker"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
	"github.com/org/ebpf-bench-action/runner/internal/hook"
)

// attached is a program for a hook, with a worker that makes the kernel reach
// the hook.
type attached struct {
	env     *driver.Environment
	command *bench.Command
	program *ebpf.Program
	hook    *hook.Hook
	opened  hook.Opened
	link    io.Closer // nil while it is not attached
	worker  *worker.Worker
	count   int
}

func (a *attached) Attach(ctx context.Context) (err error) {
	// The program does not see the start of the worker.
	if a.worker, err = workerOf(ctx, a.env, a.command); err != nil {
		return err
	}
	if a.link, err = a.opened.Attach(a.program); err != nil {
		return bench.WithHint(fmt.Errorf("attach to %s: %w", a.hook.Section, err), bench.Hint(err))
	}
	return nil
}

func (a *attached) Detach() error {
	if a.link == nil {
		return nil
	}
	err := a.link.Close()
	a.link = nil
	return err
}

func (a *attached) Drive(ctx context.Context) (driver.Driven, error) {
	_, err := a.order(ctx, a.count)
	return driver.Driven{}, err
}

// order makes the worker do the load this many times, and returns how long that
// took. Nothing more is ordered from a worker that fails.
func (a *attached) order(ctx context.Context, times int) (time.Duration, error) {
	took, err := a.worker.Time(ctx, times)
	if err != nil {
		_ = a.env.EndShared(a.worker)
	}
	return took, err
}

func (a *attached) Idle(ctx context.Context) (doings int, err error) {
	_, err = a.order(ctx, 0)
	return a.count, err
}

func (a *attached) MachineWide() {}

func (a *attached) Hook() *hook.Hook { return a.hook }

func (a *attached) Close() error { return a.Detach() }

// repeated is an attached whose worker can do less in a slice.
type repeated struct{ *attached }

func (r *repeated) Resize(runs func(now int) int) { r.count = max(runs(r.count), 1) }
