package testrun

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/insn"
	"github.com/org/ebpf-bench-action/internal/thread"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
	"github.com/org/ebpf-bench-action/runner/internal/progrun"
)

// testRun drives a program with BPF_PROG_RUN.
type testRun struct {
	program *ebpf.Program
	typ     progrun.Type
	inputs  []progrun.Input
	runs    []int // of each input, in a slice
	atOnce  int   // the most runs of one call
	fresh   bool  // each run has a call of its own
	left    []progrun.Left
	// spec is the program, hides says that what it changes of its input may not be
	// returned, and byInput that what it calls may cost something else on another.
	spec           *ebpf.ProgramSpec
	hides, byInput bool
	retvals        []uint32
	closers        []io.Closer
	// hold keeps an XDP program in the kernel's dispatcher, once a call makes
	// several runs; it is nil after that. Without it, the kernel waits for all
	// CPUs twice per call.
	hold func()
}

func open(_ context.Context, env *driver.Environment, program *ebpf.Program, j *plan.Job) (driver.Driver, error) {
	d, err := newTestRun(env, program, j)
	if err != nil {
		return nil, err
	}
	if j.Parallel && len(env.CPUs) > 1 {
		return newParallel(d, env.CPUs), nil
	}
	return d, nil
}

func newTestRun(env *driver.Environment, program *ebpf.Program, j *plan.Job) (*testRun, error) {
	d := &testRun{program: program, typ: progrun.Types[program.Type()], atOnce: manyRuns, fresh: j.Fresh != "", left: j.Left}
	d.spec = j.ProgramSpec()
	for _, p := range j.Spec.Programs {
		d.hides = d.hides || insn.HidesChanges(p.Type, p.Instructions)
		d.byInput = d.byInput || insn.CostsByInput(p.Instructions)
	}
	var err error
	if d.inputs, err = j.Inputs(); err != nil {
		return nil, err
	}
	d.retvals = make([]uint32, len(d.inputs))
	for range d.inputs {
		d.runs = append(d.runs, share(j.TestRun.Repeat, len(d.inputs)))
	}
	switch program.Type() {
	case ebpf.XDP:
		d.hold = func() {
			d.hold = nil
			if held := env.Hold(program); held != nil {
				d.closers = append(d.closers, held)
			}
		}
		if !env.Late {
			d.hold()
		}
	case ebpf.Tracing:
		attached, err := link.AttachTracing(link.TracingOptions{Program: program})
		if err != nil {
			return nil, fmt.Errorf("attach to %s: %w", j.ProgramSpec().AttachTo, err)
		}
		d.closers = append(d.closers, attached)
	}
	return d, nil
}

// share divides n among several, at least 1 each. All get the same, as do the
// runs whose instructions are counted.
func share(n, several int) int { return max((n+several/2)/several, 1) }

func (d *testRun) Drive(ctx context.Context) (driver.Driven, error) {
	err := thread.WithoutSignals(func() error {
		for i := range d.inputs {
			if err := d.run(ctx, i); err != nil {
				return explain(d.program, i, &d.inputs[i], err)
			}
		}
		return nil
	})
	return driver.Driven{Retvals: d.retvals}, err
}

// longCall is the longest that a call should take, because nothing can
// interrupt it.
const longCall = 100 * time.Millisecond

// run runs the program on one of the inputs for a slice. After the first slices
// it needs a single call, unless that would be a long one, or runs are to be fresh.
func (d *testRun) run(ctx context.Context, i int) (err error) {
	for left, runs := d.runs[i], 0; left > 0; left -= runs {
		if err := ctx.Err(); err != nil {
			return err
		}
		repeat := 0
		if runs = 1; !d.typ.Once && !d.fresh {
			runs = min(left, d.atOnce)
			repeat = runs
		}
		if repeat > 1 && d.hold != nil {
			d.hold()
		}
		began := time.Now()
		if d.retvals[i], err = d.program.Run(runOptions(&d.inputs[i], repeat)); err != nil {
			return err
		}
		if !d.fresh {
			d.adapt(runs, time.Since(began))
		}
	}
	return nil
}

// adapt adjusts the number of runs per call to how long the latest call took.
func (d *testRun) adapt(runs int, took time.Duration) {
	switch {
	case took > longCall:
		d.atOnce = max(runs/2, 1)
	case runs == d.atOnce && took < longCall/2:
		d.atOnce *= 2
	}
}

// runOptions returns the options of a call that runs the program repeat times;
// 0 is for types that take no repeat.
func runOptions(in *progrun.Input, repeat int) *ebpf.RunOptions {
	o := &ebpf.RunOptions{Data: in.Data, Repeat: uint32(repeat)}
	if in.Context != nil {
		o.Context = in.Context
	}
	return o
}

func (d *testRun) Inputs() int { return len(d.inputs) }

func (d *testRun) One(i int) (retval uint32, err error) {
	err = thread.WithoutSignals(func() error {
		retval, err = d.program.Run(runOptions(&d.inputs[i], 0))
		return err
	})
	if err != nil {
		return 0, explain(d.program, i, &d.inputs[i], err)
	}
	return retval, nil
}

func (d *testRun) Resize(runs func(now int) int) {
	n := 0
	for _, r := range d.runs {
		n += r
	}
	each := max(runs(n)/len(d.runs), 1)
	for i := range d.runs {
		d.runs[i] = each
	}
}

func (d *testRun) Close() error {
	var errs []error
	for _, c := range d.closers {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// explain says why the kernel may refuse an input.
func explain(p *ebpf.Program, i int, in *progrun.Input, err error) error {
	if errors.Is(err, ebpf.ErrNotSupported) {
		return notHere(p.Type(), err)
	}
	of := ""
	if in.Data != nil {
		of = fmt.Sprintf(" of packet %d (%d bytes)", i+1, len(in.Data))
	}
	return bench.WithHint(fmt.Errorf("test_run%s: %w", of, err), hint(p.Type(), in, err))
}

// Once runs a program once on each input.
func Once(p *ebpf.Program, inputs []progrun.Input) error {
	for i := range inputs {
		if _, err := p.Run(runOptions(&inputs[i], 0)); err != nil {
			return explain(p, i, &inputs[i], err)
		}
	}
	return nil
}
