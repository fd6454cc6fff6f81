// Package plan resolves benchmarks to programs and their drivers. It needs no
// privileges, so that errors in a suite and its objects are found before
// anything is measured.
package plan

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/object"
	"github.com/org/ebpf-bench-action/internal/strictyaml"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/internal/workload/packet"
	"github.com/org/ebpf-bench-action/runner/internal/bpfmap"
	"github.com/org/ebpf-bench-action/runner/internal/progrun"
)

// Plan is a suite whose benchmarks are resolved to programs and packets. Making
// one needs no privileges, so that errors in a suite and its objects are found
// before anything is measured.
type Plan struct {
	Jobs []*Job
}

// Job is one benchmark and everything needed to measure it.
type Job struct {
	*bench.Benchmark
	Object suite.Object
	// Spec holds only the program and what it refers to.
	Spec *ebpf.CollectionSpec
	// Frames are the packets of the benchmark; there are none if the driver
	// takes none.
	Frames [][]byte
	// Entries are the initial contents of its maps, by the map's name.
	Entries map[string][]bpfmap.Entry
	// Preparations are run once the maps are filled.
	Preparations []Preparation
	// Companions are attached as long as the program is.
	Companions []Companion
	// Replacements take the place of functions of the program.
	Replacements []Replacement
	// Warnings say what had to be changed for the object to load.
	Warnings []string
	// CalledBy says which tail calls of the object reach the program, or is "".
	CalledBy string
	// Chosen says that the suite does not name the driver.
	Chosen bool
	// AnyRuns says that the suite does not set the number of runs of a slice.
	AnyRuns bool
	// Fresh, unless empty, says that each run of test_run has a call of its own,
	// and on what it depends that others would leave; see bench.Result.
	Fresh string
	// Left, unless nil, is what a run of each packet, or of the context, left of it,
	// which others that share its call would find. As long as runs leave the same,
	// they may.
	Left []progrun.Left
	// Settle is how many runs precede those that are measured, in each load.
	Settle int
}

// Type returns the program's type in the kernel's spelling.
func (j *Job) Type() string { return object.TypeName(j.ProgramSpec().Type) }

// BudgetText returns the benchmark's measuring time.
func (j *Job) BudgetText() string { return time.Duration(j.Budget).String() }

// ProgramSpec returns the job's program.
func (j *Job) ProgramSpec() *ebpf.ProgramSpec { return j.Spec.Programs[j.Program] }

// New resolves every benchmark of the suite. It reports every problem that it
// finds, joined into one error.
func New(s *suite.Suite) (*Plan, error) {
	objects, err := parseObjects(s.Objects)
	if err != nil {
		return nil, err
	}
	var plan Plan
	var errs []error
	for i := range s.Benchmarks {
		job, err := newJob(s, objects, &s.Benchmarks[i])
		if err != nil {
			errs = append(errs, err)
			continue
		}
		plan.Jobs = append(plan.Jobs, job)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return &plan, nil
}

// noProgramError says that no object has a benchmark's program.
type noProgramError struct{ error }

func (e *noProgramError) Unwrap() error { return e.error }

func newJob(s *suite.Suite, objects map[string]*object.Object, b *bench.Benchmark) (*Job, error) {
	from, err := findObject(s, objects, b)
	if err != nil {
		return nil, err
	}
	job := &Job{Benchmark: b, Object: from}
	job.Spec, job.Warnings = objects[from.Path].Program(b.Program, b.MapPrograms()...)
	job.CalledBy = tailCalls(objects[from.Path], b.Program)
	job.ChooseDriver()
	job.SetDefaults()
	if err := job.CheckDriver(); err != nil {
		return nil, s.ErrorAt(b.Name, b.Driver(), "%s", err)
	}
	if k := job.Kind(); k.Prepare != nil {
		if err := k.Prepare(job, s, objects[from.Path]); err != nil {
			return nil, s.ErrorAt(b.Name, b.Driver(), "%s", err)
		}
	}
	if err := job.addReplacements(s, objects); err != nil {
		return nil, err
	}
	if err := bpfmap.SetGlobals(job.Spec, b.Globals); err != nil {
		return nil, s.ErrorAt(b.Name, "globals", "%s", err)
	}
	job.resetMaps()
	job.warnOfUnfed()
	if job.Entries, err = bpfmap.Prepare(objects[from.Path], job.Spec, job.Maps, s.ReadFile); err != nil {
		at := s.ErrorAt(b.Name, "maps", "%s", err)
		if missing := (*bpfmap.NoTargetError)(nil); errors.As(err, &missing) {
			return nil, &bpfmap.NoTargetError{Err: at}
		}
		return nil, at
	}
	if packets := job.Packets(); packets != nil {
		if job.Frames, err = packet.Expand(packets, s.ReadFile); err != nil {
			return nil, s.ErrorAt(b.Name, b.Driver(), "packets: %s", err)
		}
		if n := job.Kind().Runs(job); n < len(job.Frames) {
			return nil, s.ErrorAt(b.Name, b.Driver(), "%d runs a round are fewer than its %d packets", n, len(job.Frames))
		}
	}
	if err := job.addPreparations(objects[from.Path], s.ReadFile); err != nil {
		return nil, s.ErrorAt(b.Name, "prepare", "%s", err)
	}
	if k := job.Kind(); k.CheckInputs != nil {
		if err := k.CheckInputs(job); err != nil {
			return nil, s.ErrorAt(b.Name, b.Driver(), "%s", err)
		}
	}
	return job, nil
}

// resetMaps resets all maps before each slice if the suite wants that, except those
// that it says are never reset.
func (j *Job) resetMaps() {
	if j.State != bench.StateFresh {
		return
	}
	b := *j.Benchmark
	b.Maps = maps.Clone(b.Maps)
	if b.Maps == nil {
		b.Maps = map[string]bench.MapPrep{}
	}
	for _, name := range slices.Sorted(maps.Keys(j.Spec.Maps)) {
		prep, m := b.Maps[name], j.Spec.Maps[name]
		if prep.Reset != bench.ResetDefault {
			continue
		}
		switch can, keeps := bpfmap.CanReset(m); {
		case can:
			prep.Reset = bench.ResetSlice
			b.Maps[name] = prep
		case keeps:
			j.Warnings = append(slices.Clip(j.Warnings), fmt.Sprintf("state is fresh, but map %s is of type %s, which cannot be reset: it keeps what runs leave there", name, object.MapTypeName(m.Type)))
		}
	}
	j.Benchmark = &b
}

// warnOfUnfed warns of user ring buffers that the program drains and nothing fills.
func (j *Job) warnOfUnfed() {
	for _, name := range slices.Sorted(maps.Keys(j.Spec.Maps)) {
		if j.Verify == nil && j.Spec.Maps[name].Type == ebpf.UserRingbuf && object.Calls(j.ProgramSpec(), asm.FnUserRingbufDrain) {
			j.Warnings = append(slices.Clip(j.Warnings), fmt.Sprintf("map %s is a user ring buffer, which nothing fills: each run finds it empty", name))
		}
	}
}

// Inputs returns the inputs of the job's runs by test_run.
func (j *Job) Inputs() ([]progrun.Input, error) {
	return progrun.Inputs(j.ProgramSpec().Type, j.TestRun.Context, j.Frames)
}

// SharesInput reports whether a run begins with the packet and the context that
// another run of the same call left.
func (j *Job) SharesInput() bool {
	return j.TestRun != nil && progrun.Types[j.ProgramSpec().Type].DataOut && j.TestRun.Repeat > len(j.Frames)
}

// HasMap reports whether the job's program uses a map of one of the types.
func (j *Job) HasMap(types ...ebpf.MapType) bool {
	for _, m := range j.Spec.Maps {
		if slices.Contains(types, m.Type) {
			return true
		}
	}
	return false
}

// findObject finds the object that holds the benchmark's program.
func findObject(s *suite.Suite, objects map[string]*object.Object, b *bench.Benchmark) (suite.Object, error) {
	return findProgram(s, objects, b.Program, b.Object, func(format string, args ...any) error {
		return s.ErrorAt(b.Name, "program", format, args...)
	})
}

// findProgram finds the object that holds a program: the one with the path in
// or, if that is empty, the only one that has the program.
func findProgram(s *suite.Suite, objects map[string]*object.Object, program, in string, errorf func(string, ...any) error) (suite.Object, error) {
	var found []suite.Object
	var have []string
	untyped := ""
	for _, o := range s.Objects {
		if in != "" && o.Path != in {
			continue
		}
		names := objects[o.Path].Programs()
		have = append(have, names...)
		if section := objects[o.Path].Untyped(program); section != "" {
			untyped = section
		}
		if slices.Contains(names, program) {
			found = append(found, o)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		if untyped != "" {
			return suite.Object{}, &noProgramError{errorf("program %q is in section %q, which says no known type, as xdp, tc or kprobe/NAME would", program, untyped)}
		}
		where := "the suite's objects have"
		if in != "" {
			where = in + " has"
		}
		return suite.Object{}, &noProgramError{errorf("unknown program %q%s: %s %s", program, strictyaml.DidYouMean(program, have), where, strings.Join(have, ", "))}
	default:
		return suite.Object{}, errorf("program %q is in %s and in %s: say which by object", program, found[0].Path, found[1].Path)
	}
}

func parseObjects(objects []suite.Object) (map[string]*object.Object, error) {
	parsed := map[string]*object.Object{}
	var errs []error
	for _, o := range objects {
		p, err := object.Parse(o.Data)
		if err != nil {
			errs = append(errs, fmt.Errorf("read object %s: %w", o.Path, err))
			continue
		}
		parsed[o.Path] = p
	}
	return parsed, errors.Join(errs...)
}
