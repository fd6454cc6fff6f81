package job

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/fleet"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// Runs measures a suite on the kernels, as many concurrently as there are CPUs, and
// returns the runs in the kernels' order. If nothing was measured on a kernel, it has no
// run, and the error says why. After each report, write gets all runs so far.
func (o Options) Runs(ctx context.Context, on *fleet.Fleet, kernels []string, s *suite.Suite, write func(...*bench.Run) error) ([]*bench.Run, error) {
	reports := &reports{kernels: kernels, runs: make([]*bench.Run, len(kernels)), write: write}
	all, err := fleet.Each(kernels, func(i int, name string) (*bench.Run, error) {
		began := time.Now()
		run, err := o.run(ctx, on, s, name, func(latest *bench.Run) *bench.Run { return reports.add(i, began, latest) })
		if run != nil {
			o.done(&run.Testbed, began, err)
		}
		return run, err
	})
	return reports.lackKernels(all), err
}

// run measures the suite on one kernel. A run that ended early comes with the error that
// ended it.
func (o Options) run(ctx context.Context, on *fleet.Fleet, s *suite.Suite, name string, add func(latest *bench.Run) *bench.Run) (*bench.Run, error) {
	g, err := job{Only: s.Names(), Rounds: o.Rounds, Loads: o.Loads, Budget: o.Budget, Seed: o.Seed}.guest(s)
	if err != nil {
		return nil, err
	}
	var run *bench.Run
	var broken error
	g.Result = func(text json.RawMessage) {
		latest, err := bench.DecodeRun(bytes.NewReader(text))
		if err != nil {
			broken = fleet.OnKernel(name, fmt.Errorf("read the guest's results: %w", err))
			return
		}
		latest.Testbed.Asked, latest.Testbed.ByDefault = name, o.ByDefault
		run = add(latest)
	}
	g.At = func() string { return o.at(run) }
	info, err := on.Run(ctx, name, g)
	err = errors.Join(duringWhich(run, err), broken)
	if run == nil && err == nil {
		err = fleet.OnKernel(name, errors.New("the guest reported no results"))
	}
	if err != nil && nothingIn(run) {
		return nil, err
	}
	if run != nil {
		latest := *run
		latest.Testbed.QEMU, latest.Results = info.QEMU, nil
		latest.Partial = run.Partial || err != nil
		run = add(&latest)
	}
	return run, err
}

// reports are the runs on several kernels so far. They are written after each report, so
// that a killed process has not measured in vain.
type reports struct {
	mu      sync.Mutex
	kernels []string
	runs    []*bench.Run
	write   func(...*bench.Run) error
}

// lackKernels returns those of the runs that there are, with the kernels that have none.
func (r *reports) lackKernels(all []*bench.Run) []*bench.Run {
	all = present(all)
	for i, run := range all {
		one := *run
		one.MissingKernels = missing(r.kernels, all, func(run *bench.Run) string { return run.Testbed.Asked })
		all[i] = &one
	}
	return all
}

// add adds what a kernel has reported since, and returns all that it has. It sets the
// start time, which the clock of a virtual machine does not tell.
func (r *reports) add(kernel int, began time.Time, latest *bench.Run) *bench.Run {
	r.mu.Lock()
	defer r.mu.Unlock()
	run := merge(r.runs[kernel], latest)
	run.Started = began.UTC().Truncate(time.Second)
	r.runs[kernel] = run
	// An error is reported at the end, when everything is written.
	_ = r.write(r.lackKernels(r.runs)...)
	return run
}

// at returns what a guest is doing that has reported a run so far. In exact mode it
// measures one benchmark after the other, else all of them in each load.
func (o Options) at(run *bench.Run) string {
	if run == nil {
		return "starting"
	}
	var all []string
	done := 0
	for i := range run.Results {
		all = append(all, run.Results[i].Benchmark)
		if run.Results[i].Ended() {
			done++
		}
	}
	if run.Testbed.Mode == bench.ModeExact {
		return benchmarkOf(done, all)
	}
	return fmt.Sprintf("%s, %d of %s done", unit.Plural(len(all), "benchmark"), run.Loads, unit.Plural(o.Loads, "load"))
}

// nothingIn reports whether a run has no outcome: no benchmark was measured, nor failed.
func nothingIn(run *bench.Run) bool {
	return run == nil || !slices.ContainsFunc(run.Results, func(r bench.Result) bool { return r.Ended() })
}

// merge adds to a run what was reported since: all of its results, or some. A run in
// another mode replaces it.
func merge(run, latest *bench.Run) *bench.Run {
	if run == nil || run.Testbed.Mode != latest.Testbed.Mode {
		return latest
	}
	for _, r := range latest.Results {
		i := slices.IndexFunc(run.Results, func(old bench.Result) bool { return old.Benchmark == r.Benchmark })
		if i < 0 {
			run.Results = append(run.Results, r)
			continue
		}
		run.Results[i] = r
	}
	latest.Results = run.Results
	return latest
}

// duringWhich adds to an error which benchmark was being measured when the machine failed:
// in exact mode, the first one without an outcome.
func duringWhich(run *bench.Run, err error) error {
	if run == nil || run.Testbed.Mode != bench.ModeExact {
		return err
	}
	for i := range run.Results {
		if r := &run.Results[i]; !r.Ended() {
			return fleet.Lose(r, err)
		}
	}
	return err
}

func absolute(name string) string {
	abs, err := filepath.Abs(name)
	if err != nil {
		return name
	}
	return filepath.ToSlash(abs)
}
