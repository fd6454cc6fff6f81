package scaffold

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

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/strictyaml"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/runner"
)

// Trial finds out which benchmarks of a suite run.
type Trial struct {
	// File is the file of the suite, or "-" for none.
	File string
	// Run runs a suite for an instant.
	Run func(context.Context, *suite.Suite) ([]*bench.Run, error)
	// Trying is called before each attempt, with the number of benchmarks to try
	// and the names of those that failed in the attempt before.
	Trying func(programs int, without []string)
}

// Do runs each benchmark for an instant, and keeps those that ran in the suite.
// It retries one that does not run without driving it.
func (t *Trial) Do(ctx context.Context, s *Suite) error {
	if err := t.Plan(s); err != nil {
		return err
	}
	var without []string
	// Each attempt leaves something out, but when a machine fails, the
	// benchmarks after it fail, too.
	for range stages * len(s.Programs) {
		if len(s.Benchmarks()) == 0 {
			return nil
		}
		loaded, err := t.load(s)
		if err != nil {
			return exit.Usage(err)
		}
		t.Trying(len(s.Benchmarks()), without)
		runs, err := t.Run(ctx, loaded)
		if ctx.Err() != nil {
			return exit.NoMeasure(errInterrupted)
		}
		if len(runs) == 0 {
			return exit.NoMeasure(err)
		}
		failed := failedIn(runs, err)
		if len(failed) == 0 {
			s.Notes = append(s.Notes, ranOn(runs))
			break
		}
		leaveOut(s, failed)
		without = slices.Sorted(maps.Keys(failed))
	}
	return nil
}

// Search adds to the suite, all of whose benchmarks run, the inputs that a search of it
// finds, and keeps those that run, too. The search gets the suite as it is measured.
func (t *Trial) Search(ctx context.Context, s *Suite, search func(context.Context, *suite.Suite) (*bench.Search, error)) error {
	loaded, err := t.load(s)
	if err != nil {
		return exit.Usage(err)
	}
	found, err := search(ctx, loaded)
	switch {
	case ctx.Err() != nil:
		return exit.NoMeasure(errInterrupted)
	case found == nil:
		return exit.NoMeasure(err)
	}
	if err := s.Add(&Found{Searched: loaded, Search: found}); err != nil {
		return exit.NoMeasure(err)
	}
	var without []string
	for {
		names := s.inputs()
		if len(names) == 0 {
			return nil
		}
		if loaded, err = t.load(s); err != nil {
			return exit.Usage(err)
		}
		t.Trying(len(names), without)
		runs, err := t.Run(ctx, loaded.Only(names))
		switch {
		case ctx.Err() != nil:
			return exit.NoMeasure(errInterrupted)
		case len(runs) == 0:
			return exit.NoMeasure(err)
		}
		failed := failedIn(runs, err)
		if len(failed) == 0 {
			return nil
		}
		without = slices.Sorted(maps.Keys(failed))
		for i := range s.Programs {
			p := &s.Programs[i]
			p.Inputs = slices.DeleteFunc(p.Inputs, func(in Input) bool { return failed[in.Benchmark] != "" })
		}
	}
}

// inputs returns the names of the benchmarks of inputs that a search found.
func (s *Suite) inputs() (names []string) {
	for _, p := range s.Benchmarks() {
		for _, in := range p.Inputs {
			names = append(names, in.Benchmark)
		}
	}
	return names
}

var errInterrupted = errors.New("interrupted: nothing is written")

// ranOn says where all benchmarks ran, and how many were only loaded.
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

// stages is how often a program may fail until it is left out.
const stages = 3

// leaveOut demotes benchmarks that failed. If attaching to a hook failed, the
// kernel may lack the hook; if that failed before, or there is no hook, the
// program is only loaded; and if even loading failed, it is left out.
func leaveOut(s *Suite, failed map[string]string) {
	for _, p := range s.Benchmarks() {
		why, ok := failed[p.Benchmark]
		switch {
		case !ok:
		case p.Unhooked != "":
			// The reason of its first failure is the better one.
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

// leaveOutUnnamed leaves out programs that no suite can name, if err says that
// this suite is invalid.
func (t *Trial) leaveOutUnnamed(s *Suite, err error) error {
	left := false
	for i := range s.Programs {
		p := &s.Programs[i]
		one := *s
		one.Programs = []Program{*p}
		if len(one.Benchmarks()) == 0 {
			continue
		}
		if _, err := t.load(&one); err != nil {
			p.Refused, left = reason(p.Benchmark, err), true
		}
	}
	if !left {
		return exit.Usage(err)
	}
	return nil
}

// Plan resolves each benchmark as run does, and so finds those that are refused
// before anything is loaded.
func (t *Trial) Plan(s *Suite) error {
	for range stages {
		if len(s.Benchmarks()) == 0 {
			return nil
		}
		whole, err := t.load(s)
		if err != nil {
			if err := t.leaveOutUnnamed(s, err); err != nil {
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
		leaveOut(s, failed)
	}
	return nil
}

// reason returns what is wrong, without a position in a suite that nobody has
// seen.
func reason(benchmark string, err error) string {
	var at *strictyaml.Error
	if errors.As(err, &at) {
		return strings.TrimPrefix(at.Msg, fmt.Sprintf("benchmark %q: ", benchmark))
	}
	return err.Error()
}

// load reads the suite as if from its file.
func (t *Trial) load(s *Suite) (*suite.Suite, error) {
	name := filepath.ToSlash(t.File)
	if name == "-" {
		name = suite.FileNames[0]
	}
	return suite.Load(overlay{suite.OS, name, []byte(s.Text())}, name)
}

// failedIn returns why benchmarks did not run, by name. Those that a failing
// machine took along are not to blame if another one is.
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

// overlay is a file system with one more file, which is in memory.
type overlay struct {
	fs.FS
	name string
	text []byte
}

// Open opens the file in memory, or one of the file system below.
func (o overlay) Open(name string) (fs.File, error) {
	if name == o.name {
		return fstest.MapFS{"file": {Data: o.text, Mode: 0o444}}.Open("file")
	}
	return o.FS.Open(name)
}

// ReadFile reads the file in memory, or one of the file system below.
func (o overlay) ReadFile(name string) ([]byte, error) {
	if name == o.name {
		return o.text, nil
	}
	return fs.ReadFile(o.FS, name)
}

// Stat describes a file of the file system below.
func (o overlay) Stat(name string) (fs.FileInfo, error) { return fs.Stat(o.FS, name) }

// Glob returns matching files of the file system below.
func (o overlay) Glob(pattern string) ([]string, error) { return fs.Glob(o.FS, pattern) }

// Nothing says why a suite has no benchmarks, which was tried or not.
func (s *Suite) Nothing(tried bool) error {
	var errs []error
	for _, p := range s.Programs {
		switch {
		case p.Refused != "":
			errs = append(errs, fmt.Errorf("%s: %s", p.Benchmark, p.Refused))
		case p.Replaces && p.Target == nil:
			errs = append(errs, fmt.Errorf("%s: it replaces a function (%s) of a program that is in none of the objects, or in several", p.Benchmark, p.Section))
		}
	}
	err := errors.New("none of the programs can be measured: no suite is written")
	if tried {
		err = bench.WithHint(err, "try another kernel by --kernel; --no-check writes a suite all the same")
	}
	return errors.Join(append(errs, err)...)
}
