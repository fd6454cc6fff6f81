package perfevent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/thread"
	"github.com/org/ebpf-bench-action/internal/workload/perf"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
)

// perfEvent samples a load that runs only during a slice, so that it disturbs
// no other benchmark, and others can use it.
type perfEvent struct {
	load *perf.Load
	// shared says that other programs use the load, too.
	shared bool
	events *perf.Events
	window time.Duration
	// widest is the longest that a window in which the program did not run may
	// become.
	widest time.Duration
}

// widestWindow is long enough for a load that shares its CPU with any number of
// others.
const widestWindow = time.Second

// Widen doubles the window, and reports whether it was not the widest already.
func (p *perfEvent) Widen() bool {
	if p.window >= p.widest {
		return false
	}
	p.window = min(2*p.window, p.widest)
	return true
}

func open(_ context.Context, env *driver.Environment, program *ebpf.Program, j *plan.Job) (d driver.Driver, err error) {
	p := &perfEvent{window: time.Duration(j.PerfEvent.Window)}
	if env.Window > 0 {
		p.window = min(p.window, max(env.Window, fewSamples(j.PerfEvent, env.Exact)))
	}
	if env.Late { // in exact mode nobody else has the CPU
		p.widest = widestWindow
	}
	defer func() {
		if err != nil {
			_ = p.Close()
		}
	}()
	if p.load, p.shared, err = sampledLoad(env, j.PerfEvent.Load); err != nil {
		return nil, err
	}
	threads, err := p.load.TIDs()
	if err != nil {
		return nil, fmt.Errorf("list the load's threads: %w", err)
	}
	if err = p.load.Pause(); err != nil {
		return nil, err
	}
	if p.events, err = perf.Open(*j.PerfEvent, threads); err != nil {
		return nil, p.load.Explain(err)
	}
	if err = p.events.Attach(program); err != nil {
		return nil, err
	}
	return p, nil
}

// unknownSamples is the window of an event whose samples come at unknown times.
const unknownSamples = 5 * time.Millisecond

// fewSamples returns the time of a few samples of an event. A period that the end of a
// window cuts off continues in the next window, so a whole number of periods nearly always
// gives the same number of samples. If their number is unknown, there are some where the
// window can be long.
func fewSamples(e *bench.PerfEvent, exact bool) time.Duration {
	var period time.Duration
	switch {
	case e.Frequency > 0:
		period = time.Second / time.Duration(e.Frequency)
	case e.Event == "cpu-clock", e.Event == "task-clock":
		period = time.Duration(e.Period)
	case !exact:
		return unknownSamples
	}
	return 4 * period
}

func (p *perfEvent) Drive(ctx context.Context) (driver.Driven, error) {
	if err := p.load.Resume(); err != nil {
		return driver.Driven{}, err
	}
	if err := p.events.Enable(); err != nil {
		return driver.Driven{}, err
	}
	if err := thread.Wait(ctx, p.window); err != nil {
		return driver.Driven{}, err
	}
	if err := p.events.Disable(); err != nil {
		return driver.Driven{}, err
	}
	if err := p.load.Pause(); err != nil {
		return driver.Driven{}, err
	}
	return driver.Driven{}, p.load.Err()
}

func (p *perfEvent) Close() error {
	var errs []error
	if p.events != nil {
		errs = append(errs, p.events.Close())
	}
	if p.load != nil && !p.shared {
		errs = append(errs, p.load.Close())
	}
	return errors.Join(errs...)
}

// sampledLoad returns a load for a perf event to sample. It runs only during a slice of one
// program, whose event is the only one that counts then, so that programs can share it. A
// command is started for each program: it may end.
func sampledLoad(e *driver.Environment, desc bench.Load) (l *perf.Load, shared bool, err error) {
	if len(desc.Command) > 0 {
		l, err = perf.StartLoad(desc)
		return l, false, err
	}
	key, start := fmt.Sprintf("sampled %+v", desc), func() (*perf.Load, error) { return perf.StartLoad(desc) }
	if l, err = driver.Share(e, key, start); err == nil && l.Err() != nil {
		_ = e.EndShared(l) // it has ended
		l, err = driver.Share(e, key, start)
	}
	return l, true, err
}
