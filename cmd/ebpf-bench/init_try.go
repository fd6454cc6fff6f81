package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing/fstest"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/fleet"
	"github.com/org/ebpf-bench-action/internal/job"
	"github.com/org/ebpf-bench-action/internal/probe"
	"github.com/org/ebpf-bench-action/internal/scaffold"
	"github.com/org/ebpf-bench-action/internal/strictyaml"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/runner"
)

// try runs each benchmark for an instant, where that can be, and keeps in the
// suite those that ran. One that does not is tried once more without being
// driven.
func (f *initFlags) try(ctx context.Context, t *ui.Terminal, s *scaffold.Suite) error {
	kernels := f.machines.Choose(nil)
	missing, err := probe.Capabilities()
	if err != nil {
		return exit.NoMeasure(err)
	}
	run := f.onKernels(t, kernels)
	where := "this host"
	switch {
	case f.noCheck:
		s.Notes = append(s.Notes, "None of the programs was tried. One that a kernel does not load fails the run.")
		return f.plan(s)
	case len(kernels) > 0:
		where = onLinux(kernels)
	case len(missing) > 0:
		s.Notes = append(s.Notes, "None of the programs was tried, for want of root. One that a kernel does not load fails the run: sudo ebpf-bench init --force leaves those out.")
		t.Warn("without root no program can be tried on this host: the suite has all of them. Run it by sudo, or try them in a virtual machine by --kernel 6.12.")
		return f.plan(s)
	default:
		run = f.onHost
	}
	if err := f.plan(s); err != nil {
		return err
	}
	why := ""
	// Each time something is left out, but a machine that fails takes what comes
	// after it along.
	for range stages * len(s.Programs) {
		if len(s.Benchmarks()) == 0 {
			return nil
		}
		loaded, err := f.load(s)
		if err != nil {
			return exit.Usage(err)
		}
		t.Say("trying %s on %s%s", unit.Plural(len(s.Benchmarks()), "program"), where, why)
		runs, err := run(ctx, loaded)
		if ctx.Err() != nil {
			return exit.NoMeasure(errors.New("interrupted: nothing is written"))
		}
		if len(runs) == 0 {
			return exit.NoMeasure(err)
		}
		failed := failedIn(runs, err)
		if len(failed) == 0 {
			s.Notes = append(s.Notes, ranOn(runs))
			break
		}
		f.leaveOut(s, failed)
		why = " once more, without what failed of " + unit.Few(slices.Sorted(maps.Keys(failed)))
	}
	return nil
}

// onLinux names kernels for a message.
func onLinux(kernels []string) string {
	if slices.Contains(kernels, fleet.Host) {
		return "kernels " + strings.Join(kernels, ", ")
	}
	return "Linux " + strings.Join(kernels, ", ")
}

// ranOn says where all benchmarks ran, and of how many that is not true.
func ranOn(runs []*bench.Run) string {
	var kernels, loaded []string
	for _, r := range runs {
		kernels = append(kernels, r.Testbed.Kernel)
		for i := range r.Results {
			if r.Results[i].Driver == bench.DriverVerify {
				loaded = unit.AppendNew(loaded, r.Results[i].Benchmark)
			}
		}
	}
	but := ""
	switch n := len(loaded); {
	case n == 0:
	case len(runs) == 1:
		but = ", but for " + isOnly(n) + " loaded"
	default:
		but = ", but for " + isOnly(n) + " loaded on some of them"
	}
	return "When it was written, each benchmark ran on Linux " + strings.Join(kernels, ", ") + but + "."
}

func isOnly(n int) string {
	if n == 1 {
		return "one that is only"
	}
	return fmt.Sprintf("%d that are only", n)
}

// stages are how often a program may fail until it is left out.
const stages = 3

// leaveOut makes of a hook that failed one that the kernel may lack, of what failed
// so too, or has no hook, something that is only loaded, and of what failed even so
// something that is left out.
func (f *initFlags) leaveOut(s *scaffold.Suite, failed map[string]string) {
	for _, p := range s.Benchmarks() {
		why, ok := failed[p.Benchmark]
		switch {
		case !ok:
		case p.Unhooked != "":
			// The reason of its first failing is the better one.
			p.Unhooked, p.Undriven = "", p.Unhooked
		case p.Drives() == bench.DriverVerify:
			p.Undriven, p.Refused = "", why
		case p.Driver == bench.DriverCommand && !strings.Contains(why, runner.Misspelled):
			p.Unhooked = why
		default:
			p.Undriven = why
		}
	}
}

// leaveOutUnnamed leaves out programs that no suite can have, mostly for their
// names, where err says that this one cannot be.
func (f *initFlags) leaveOutUnnamed(s *scaffold.Suite, err error) error {
	left := false
	for i := range s.Programs {
		p := &s.Programs[i]
		one := *s
		one.Programs = []scaffold.Program{*p}
		if len(one.Benchmarks()) == 0 {
			continue
		}
		if _, err := f.load(&one); err != nil {
			p.Refused, left = reason(p.Benchmark, err), true
		}
	}
	if !left {
		return exit.Usage(err)
	}
	return nil
}

// plan resolves each benchmark as run does, and so finds those that are refused
// before anything is loaded.
func (f *initFlags) plan(s *scaffold.Suite) error {
	for range stages {
		if len(s.Benchmarks()) == 0 {
			return nil
		}
		whole, err := f.load(s)
		if err != nil {
			if err := f.leaveOutUnnamed(s, err); err != nil {
				return err
			}
			continue
		}
		if _, err := runner.NewPlan(whole); err == nil {
			return nil
		}
		failed := map[string]string{}
		for _, b := range whole.Benchmarks {
			one := *whole
			one.Benchmarks = []bench.Benchmark{b}
			if _, err := runner.NewPlan(&one); err != nil {
				failed[b.Name] = reason(b.Name, err)
			}
		}
		f.leaveOut(s, failed)
	}
	return nil
}

// reason is what is wrong, without where in a suite that nobody has seen.
func reason(benchmark string, err error) string {
	var at *strictyaml.Error
	if errors.As(err, &at) {
		return strings.TrimPrefix(at.Msg, fmt.Sprintf("benchmark %q: ", benchmark))
	}
	return err.Error()
}

// load reads the suite as it would be read from its file.
func (f *initFlags) load(s *scaffold.Suite) (*suite.Suite, error) {
	name := filepath.ToSlash(f.out)
	if name == "-" {
		name = suite.FileNames[0]
	}
	return suite.Load(overlay{suite.OS, name, []byte(s.Text())}, name)
}

// failedIn are why benchmarks did not run, by their names. Those that a machine took
// along when it failed are not to blame while there is one that is.
func failedIn(runs []*bench.Run, err error) map[string]string {
	failed, lost := map[string]string{}, map[string]string{}
	for _, r := range runs {
		for i := range r.Results {
			result := &r.Results[i]
			switch {
			case failed[result.Benchmark] != "":
			case result.Error != "":
				failed[result.Benchmark] = fmt.Sprintf("on Linux %s: %s", r.Testbed.Kernel, result.Error)
			case !result.Ended() && err != nil:
				lost[result.Benchmark] = fmt.Sprintf("on Linux %s: %v", r.Testbed.Kernel, err)
			}
		}
	}
	if len(failed) == 0 {
		return lost
	}
	return failed
}

// tryRounds are the rounds of a benchmark that is tried.
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
		on, err := f.machines.Open(t, kernels)
		if err != nil {
			return nil, err
		}
		done := func(release string, took time.Duration) {
			t.Say("measured on Linux %s in %.1f s", release, took.Seconds())
		}
		return job.Options{Rounds: tryRounds, Loads: 1, Done: done}.Runs(ctx, on, kernels, s, func(...*bench.Run) error { return nil })
	}
}

// overlay is a file system with one more file, which is in memory.
type overlay struct {
	fs.FS
	name string
	text []byte
}

// Open opens the file in memory, or another one.
func (o overlay) Open(name string) (fs.File, error) {
	if name == o.name {
		return fstest.MapFS{"file": {Data: o.text, Mode: 0o444}}.Open("file")
	}
	return o.FS.Open(name)
}

// ReadFile, Stat and Glob are those of the file system below.
func (o overlay) ReadFile(name string) ([]byte, error) {
	if name == o.name {
		return o.text, nil
	}
	return fs.ReadFile(o.FS, name)
}

// Stat is that of the file system below.
func (o overlay) Stat(name string) (fs.FileInfo, error) { return fs.Stat(o.FS, name) }

// Glob is that of the file system below.
func (o overlay) Glob(pattern string) ([]string, error) { return fs.Glob(o.FS, pattern) }
