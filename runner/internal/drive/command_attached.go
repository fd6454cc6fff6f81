package drive

import (
	"context"
	"errors"
	"io"

	"github.com/org/ebpf-bench-action/internal/workload/worker"
)

// attached is a program on a hook, with a worker that makes the kernel reach
// the hook.
type attached struct {
	link   io.Closer
	worker *worker.Worker
	count  int
}

func (a *attached) Drive(ctx context.Context) (Driven, error) {
	return Driven{}, a.worker.Do(ctx, a.count)
}

func (a *attached) Idle(ctx context.Context) (doings int, err error) {
	return a.count, a.worker.Do(ctx, 0)
}

func (a *attached) MachineWide() {}

func (a *attached) Close() error {
	var errs []error
	// Close the worker first: it waits for orders in functions of the kernel
	// that may be hooked, and should not return from one after its hook is
	// gone.
	if a.worker != nil {
		errs = append(errs, a.worker.Close())
	}
	if a.link != nil {
		errs = append(errs, a.link.Close())
	}
	return errors.Join(errs...)
}

// repeated is an attached whose worker can do less in a slice.
type repeated struct{ *attached }

func (r *repeated) Resize(runs func(now int) int) { r.count = max(runs(r.count), 1) }
