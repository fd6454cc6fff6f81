package drive

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/workload/worker"
	"github.com/org/ebpf-bench-action/runner/internal/hook"
)

// attached is a program for a hook, with a worker that makes the kernel reach
// the hook. The worker starts before the program is attached, which does not see
// the start.
type attached struct {
	program *ebpf.Program
	hook    *hook.Hook
	held    io.Closer // the hook
	link    io.Closer // nil while it is not attached
	worker  *worker.Worker
	count   int
}

func (a *attached) Attach() (err error) {
	if a.link, err = a.hook.Attach(a.program); err != nil {
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

func (a *attached) Drive(ctx context.Context) (Driven, error) {
	return Driven{}, a.worker.Do(ctx, a.count)
}

func (a *attached) Idle(ctx context.Context) (doings int, err error) {
	return a.count, a.worker.Do(ctx, 0)
}

func (a *attached) MachineWide() {}

func (a *attached) Close() error {
	// Close the worker first: it waits for orders in functions of the kernel
	// that may be hooked, and should not return from one after its hook is
	// gone.
	return errors.Join(a.worker.Close(), a.Detach(), a.held.Close())
}

// repeated is an attached whose worker can do less in a slice.
type repeated struct{ *attached }

func (r *repeated) Resize(runs func(now int) int) { r.count = max(runs(r.count), 1) }
