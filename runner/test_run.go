package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"

	"github.com/org/ebpf-bench-action/internal/bench"
)

var testRunKind = kind{
	check: checkTestRun,
	open: func(_ context.Context, env *environment, program *ebpf.Program, j *Job) (driver, error) {
		d, err := newTestRun(env, program, j)
		if err != nil {
			return nil, err
		}
		if j.Parallel && len(env.cpus) > 1 {
			return newParallel(d, env.cpus), nil
		}
		return d, nil
	},
	alike: func(j *Job) string {
		text := fmt.Sprintf("test_run of %d", min(max(j.TestRun.Repeat/max(len(j.Frames), 1), 1), manyRuns))
		if runTypes[j.program().Type].once {
			text = "test_run of one"
		}
		if j.Parallel {
			text += " on all CPUs"
		}
		return text
	},
	neverRan: "the kernel ran it without counting: is kernel.bpf_stats_enabled reset by something else?",
}

func checkTestRun(j *Job) error {
	p := j.program()
	typ, ok := runTypes[p.Type]
	switch {
	case !ok:
		return fmt.Errorf("test_run drives programs of the types %s", strings.Join(runTypesText(), ", "))
	case p.Type == ebpf.Tracing && !ofTestFunction(p):
		return fmt.Errorf("test_run of tracing programs calls the kernel's test functions, such as bpf_fentry_test1, and this one traces %s: drive it by command", p.AttachTo)
	case !typ.packets && len(j.TestRun.Packets) > 0:
		return errors.New("test_run gives it no packets, but a context")
	case p.Type == ebpf.Tracing && j.TestRun.Context != nil:
		return errors.New("the kernel chooses the arguments of its test functions: there is no context to give")
	}
	return nil
}

// ofTestFunction tells a tracing program of the functions that the kernel has
// for BPF_PROG_RUN to call.
func ofTestFunction(p *ebpf.ProgramSpec) bool {
	return p.Type == ebpf.Tracing && (strings.HasPrefix(p.AttachTo, "bpf_fentry_test") || strings.HasPrefix(p.AttachTo, "bpf_modify_return_test"))
}

// manyRuns is from how many runs a test_run call on, the first ones, which are
// slow, do not show.
const manyRuns = 64

// testRun drives a program by BPF_PROG_RUN.
type testRun struct {
	program *ebpf.Program
	typ     runType
	inputs  []input
	runs    []int // of each input, in a slice
	atOnce  int   // the runs of a call, at most
	retvals []uint32
	closers []io.Closer
	// hold keeps an XDP program where calls of several runs want it, nil once it has:
	// the kernel else waits for all CPUs, twice a call.
	hold func()
}

func newTestRun(env *environment, program *ebpf.Program, j *Job) (*testRun, error) {
	d := &testRun{program: program, typ: runTypes[program.Type()], atOnce: manyRuns}
	var err error
	if d.inputs, err = j.inputs(); err != nil {
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
			if held := env.hold(program); held != nil {
				d.closers = append(d.closers, held)
			}
		}
		if !env.late {
			d.hold()
		}
	case ebpf.Tracing:
		attached, err := link.AttachTracing(link.TracingOptions{Program: program})
		if err != nil {
			return nil, fmt.Errorf("attach to %s: %w", j.program().AttachTo, err)
		}
		d.closers = append(d.closers, attached)
	}
	return d, nil
}

// share is the part of n that falls to each of several, at least 1: the same, as
// of the runs whose instructions are counted.
func share(n, several int) int { return max((n+several/2)/several, 1) }

func (d *testRun) drive(ctx context.Context) (driven, error) {
	err := withoutSignals(func() error {
		for i := range d.inputs {
			if err := d.run(ctx, i); err != nil {
				return explainTestRun(d.program, i, &d.inputs[i], err)
			}
		}
		return nil
	})
	return driven{retvals: d.retvals}, err
}

// longCall is how long a call should take at most, because nothing cuts it off.
const longCall = 100 * time.Millisecond

// run runs the program on one of the inputs, as often as a slice does. After the
// first slices that is one call, unless it were a long one.
func (d *testRun) run(ctx context.Context, i int) (err error) {
	for left, runs := d.runs[i], 0; left > 0; left -= runs {
		if err := ctx.Err(); err != nil {
			return err
		}
		repeat := 0
		if runs = 1; !d.typ.once {
			runs = min(left, d.atOnce)
			repeat = runs
		}
		if repeat > 1 && d.hold != nil {
			d.hold()
		}
		began := time.Now()
		if d.retvals[i], err = d.program.Run(d.inputs[i].options(repeat)); err != nil {
			return err
		}
		d.adapt(runs, time.Since(began))
	}
	return nil
}

// adapt has calls make more runs, or fewer, after one that took so long.
func (d *testRun) adapt(runs int, took time.Duration) {
	switch {
	case took > longCall:
		d.atOnce = max(runs/2, 1)
	case runs == d.atOnce && took < longCall/2:
		d.atOnce *= 2
	}
}

// options of a call that runs the program so often; 0 is for a type that takes
// no number.
func (in *input) options(repeat int) *ebpf.RunOptions {
	o := &ebpf.RunOptions{Data: in.data, Repeat: uint32(repeat)}
	if in.context != nil {
		o.Context = in.context
	}
	return o
}

func (d *testRun) resize(runs func(now int) int) {
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

// explainTestRun says what the kernel may have against an input.
func explainTestRun(p *ebpf.Program, i int, in *input, err error) error {
	if errors.Is(err, ebpf.ErrNotSupported) {
		return noTestRun(p.Type(), err)
	}
	of := ""
	if in.data != nil {
		of = fmt.Sprintf(" of packet %d (%d bytes)", i+1, len(in.data))
	}
	return bench.WithHint(fmt.Errorf("test_run%s: %w", of, err), testRunHint(p.Type(), in, err))
}
