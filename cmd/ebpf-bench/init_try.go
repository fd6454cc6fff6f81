package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/cli"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/fleet"
	"github.com/org/ebpf-bench-action/internal/job"
	"github.com/org/ebpf-bench-action/internal/probe"
	"github.com/org/ebpf-bench-action/internal/scaffold"
	"github.com/org/ebpf-bench-action/internal/sides"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/runner"
)

// try runs each benchmark for an instant, if possible, and keeps in the suite those that
// ran. If that is asked for, it also searches for inputs.
func (f *initFlags) try(ctx context.Context, t *ui.Terminal, s *scaffold.Suite) error {
	trial := &scaffold.Trial{File: f.out, Run: f.onHost}
	kernels, where := f.machines.Choose(nil), "this host"
	missing, err := probe.Capabilities()
	if err != nil {
		return exit.NoMeasure(err)
	}
	switch {
	case f.noCheck:
		s.Notes = append(s.Notes, "None of the programs was tried. One that a kernel does not load fails the run.")
		return trial.Plan(s)
	case len(kernels) > 0:
		trial.Run, where = f.onKernels(t, kernels), onLinux(kernels)
	case len(missing) > 0 && f.search:
		return exit.Usage(bench.WithHint(errors.New("--search runs the programs, and on this host that takes root"), "run it by sudo, or search in a virtual machine by --kernel 6.12"))
	case len(missing) > 0:
		s.Notes = append(s.Notes, "None of the programs was tried, for want of root. One that a kernel does not load fails the run: sudo ebpf-bench init --force leaves those out.")
		t.Warn("without root no program can be tried on this host: the suite has all of them. Run it by sudo, or try them in a virtual machine by --kernel 6.12.")
		return trial.Plan(s)
	}
	trial.Trying = func(programs int, without []string) {
		again := ""
		if len(without) > 0 {
			again = " once more, without what failed of " + unit.Few(without)
		}
		t.Say("trying %s on %s%s", unit.Plural(programs, "program"), where, again)
	}
	if err := trial.Do(ctx, s); err != nil || !f.search || len(s.Benchmarks()) == 0 {
		return err
	}
	return trial.Search(ctx, s, func(ctx context.Context, s *suite.Suite) (*bench.Search, error) {
		return f.searchIn(ctx, t, s, kernels)
	})
}

// initSearchRuns is how many inputs of each program are tried.
const initSearchRuns = 20_000

// searchIn searches the programs of a suite on this host, or on the first of the kernels.
func (f *initFlags) searchIn(ctx context.Context, t *ui.Terminal, s *suite.Suite, kernels []string) (*bench.Search, error) {
	programs, err := runner.PlanSearches(s)
	if err != nil {
		return nil, err
	}
	if len(programs.Jobs) == 0 {
		t.Say("there is nothing to search: none of the programs takes an input from test_run")
		return &bench.Search{}, nil
	}
	var all []*bench.Search
	o, ignore := runner.SearchOptions{Runs: initSearchRuns, Seed: 1}, func(...*bench.Search) {}
	if len(kernels) == 0 {
		all, err = searchHere(ctx, t, programs, o, ignore)
	} else {
		all, err = searchOn(ctx, t, &f.machines, kernels[:1], s, &sides.Objects{Head: s.Objects}, programs, o, ignore)
	}
	if len(all) == 0 {
		return nil, err
	}
	for i := range all[0].Programs {
		if p := &all[0].Programs[i]; p.Error != "" {
			t.Warn("%s has no inputs that were found: %s", p.Benchmark, p.Error)
		}
	}
	return all[0], err
}

// onLinux names kernels for a message.
func onLinux(kernels []string) string {
	if slices.Contains(kernels, fleet.Host) {
		return "kernels " + strings.Join(kernels, ", ")
	}
	return "Linux " + strings.Join(kernels, ", ")
}

// tryRounds is the number of rounds in the trial of a benchmark.
const tryRounds = 2

func (f *initFlags) onHost(ctx context.Context, s *suite.Suite) ([]*bench.Run, error) {
	plan, err := runner.NewPlan(s)
	if err != nil {
		return nil, err
	}
	run, err := runner.Measure(ctx, plan, runner.Options{Rounds: tryRounds, Loads: 1, Tool: version()})
	if run == nil {
		return nil, err
	}
	return []*bench.Run{run}, err
}

func (f *initFlags) onKernels(t *ui.Terminal, kernels []string) func(context.Context, *suite.Suite) ([]*bench.Run, error) {
	return func(ctx context.Context, s *suite.Suite) ([]*bench.Run, error) {
		on, err := f.machines.Open(cli.Watch{Terminal: t}, kernels)
		if err != nil {
			return nil, err
		}
		done := func(release string, took time.Duration) {
			t.Say("measured on Linux %s in %.1f s", release, took.Seconds())
		}
		return job.Options{Rounds: tryRounds, Loads: 1, Done: done}.Runs(ctx, on, kernels, s, func(...*bench.Run) error { return nil })
	}
}
