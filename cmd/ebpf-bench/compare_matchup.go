package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/cli"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/runner"
	"github.com/org/ebpf-bench-action/thresholds"
)

// matchup is two sides that are to be compared. Those that have objects are
// measured by a suite, whose objects are the head's; those that have not are
// numbers, and there is no suite.
type matchup struct {
	base, head *side
	suite      *suite.Suite
	objects    sideObjects
	// all are the benchmarks of the suite, also those that a filter leaves out.
	all []thresholds.Benchmark
	// pairs are those of the shard that is measured, total is how many there are
	// in all.
	pairs []runner.PairJob
	total int
	// filter leaves out benchmarks of numbers.
	filter nameFilter
}

func (f *compareFlags) open(ctx context.Context, t *ui.Terminal, args []string) (_ *matchup, err error) {
	opener := &sideOpener{store: f.store.open(), command: f.command}
	re, err := regexp.Compile(f.filter)
	if err != nil {
		return nil, fmt.Errorf("--filter: %w", err)
	}
	m := &matchup{filter: nameFilter{re}}
	// The head tells which of several stored runs its base is.
	if len(args) > 1 {
		m.head, err = opener.open(ctx, args[1])
	} else {
		m.head, err = f.here(t)
	}
	if err != nil {
		return nil, err
	}
	opener.near = f.near(t, m.head)
	if m.base, err = opener.open(ctx, args[0]); err != nil {
		return nil, err
	}
	if err := m.checkPrograms(); err != nil {
		return nil, err
	}
	numbers := func(s *side) bool { return s.objects == nil }
	switch {
	case f.command == "explain" && (numbers(m.base) || numbers(m.head)):
		return nil, noObjects(m.base, m.head)
	case numbers(m.base) && numbers(m.head), m.base.runs != nil && m.head.runs != nil && (numbers(m.base) || numbers(m.head)):
		// Just one side could be measured, so what is stored of it has to do.
		return m, errors.Join(f.checkNumbers(), m.checkModes(), m.filter.check(m.base, m.head))
	case (m.base.program == "") != (m.head.program == ""):
		return nil, fmt.Errorf("%s and %s: name a program of both, or of neither", m.base.Name, m.head.Name)
	case numbers(m.base) != numbers(m.head):
		return nil, bench.WithHint(fmt.Errorf("%s and %s: one has objects and the other only numbers", m.base.Name, m.head.Name),
			"measure the objects first, by ebpf-bench run --out; or give the objects of both")
	}
	if err := f.plan(t, m, re); err != nil {
		return nil, err
	}
	return m, nil
}

// here is the suite in this folder with its objects.
func (f *compareFlags) here(t *ui.Terminal) (*side, error) {
	s, err := openSuite(t, f.suite)
	if err != nil {
		return nil, err
	}
	return &side{Side: bench.Side{Name: s.File}, suite: s, objects: s.Objects}, nil
}

func (f *compareFlags) checkNumbers() error {
	switch {
	case f.suite != "":
		return errors.New("--suite: there are no objects to measure, just results")
	case len(f.machines.Kernels) > 0:
		return errors.New("--kernel: there are no objects to measure, just results")
	case f.machines.Mode != "":
		return errors.New("--vm: there are no objects to measure, just results")
	case f.shard.Shard != nil:
		return errors.New("--shard: there are no objects to measure, just results")
	case f.budget != 0:
		return errors.New("--budget: there are no objects to measure, just results")
	case f.seed != 0:
		return errors.New("--seed: there are no objects to measure, just results")
	}
	return nil
}

// plan finds the suite that drives both sides, and what each has of it: the
// suite that the user names, else the head's, else the base's, else one that
// is made up from the objects.
func (f *compareFlags) plan(t *ui.Terminal, m *matchup, re *regexp.Regexp) (err error) {
	switch {
	case f.suite != "":
		m.suite, err = suite.Load(suite.OS, filepath.ToSlash(f.suite))
	case m.head.suite != nil:
		m.suite = m.head.suite
		if m.head.program == "" {
			m.objects.own = m.base.suite
		}
	case m.base.suite != nil:
		m.suite = m.base.suite
	default:
		m.suite, err = madeUpSuite(m)
	}
	if err != nil {
		return err
	}
	m.objects.Head, m.objects.HeadProgram = inPlaceOf(m.suite.Objects, m.head.objects), m.head.program
	m.objects.Base, m.objects.BaseProgram = inPlaceOf(m.objects.Head, m.base.objects), m.base.program
	if err := m.choose(re); err != nil {
		return err
	}
	if f.suite != "" {
		if err := m.leaveOut(t); err != nil {
			return err
		}
	}
	if m.pairs, err = m.objects.plan(m.suite); err != nil {
		return err
	}
	m.total, m.pairs = len(m.pairs), bench.PartOf(f.shard.Shard, m.pairs)
	for _, p := range m.pairs {
		m.objects.Only = append(m.objects.Only, p.Name())
	}
	return nil
}

// choose takes the benchmarks whose names match, of both sides' suites.
func (m *matchup) choose(re *regexp.Regexp) error {
	m.all = namesOf(m.suite)
	own := m.objects.own
	if own == nil {
		return m.suite.Filter(re)
	}
	for _, b := range namesOf(own) {
		m.all = unit.AppendNew(m.all, b)
	}
	inHead, inBase := m.suite.Filter(re), own.Filter(re)
	switch {
	case inBase != nil:
		own.Benchmarks = nil
		return inHead
	case inHead != nil: // and so they were removed
		m.suite.Benchmarks = nil
	}
	return nil
}

// leaveOut leaves out what neither side has of a suite that was not made for
// them, unless nothing would be left.
func (m *matchup) leaveOut(t *ui.Terminal) error {
	head, base, err := m.objects.apply(m.suite)
	if err != nil {
		return err
	}
	without, err := runner.NeitherHas(head, base)
	if n := len(without); err != nil || n == 0 || n == len(head.Benchmarks) {
		return err
	}
	m.suite.Benchmarks = slices.DeleteFunc(slices.Clone(m.suite.Benchmarks), func(b bench.Benchmark) bool { return slices.Contains(without, b.Name) })
	t.Say("left out, because neither side has the program: %s", strings.Join(without, ", "))
	return nil
}

// inPlaceOf gives objects the paths of others that they are another build of:
// the only one of each, or else that of the same path, or of the most folders at
// the end of it in common. Each stands for one.
func inPlaceOf(others, objects []suite.Object) []suite.Object {
	objects = slices.Clone(objects)
	if len(others) == 1 && len(objects) == 1 {
		objects[0].Path = others[0].Path
		return objects
	}
	var free []string
	for _, o := range others {
		if !slices.ContainsFunc(objects, func(mine suite.Object) bool { return mine.Path == o.Path }) {
			free = append(free, o.Path)
		}
	}
	for i := range objects {
		mine := objects[i].Path
		if slices.ContainsFunc(others, func(o suite.Object) bool { return o.Path == mine }) {
			continue
		}
		if n := nearestPath(mine, free); n >= 0 {
			objects[i].Path = free[n]
			free = slices.Delete(free, n, n+1)
		}
	}
	return objects
}

// nearestPath is the index of the path that has the most of its end in common
// with another, -1 where none has a name in common or several have as much.
func nearestPath(path string, paths []string) int {
	best, most := -1, 0
	for i, p := range paths {
		switch n := commonEnd(path, p); {
		case n > most:
			best, most = i, n
		case n == most:
			best = -1
		}
	}
	return best
}

// commonEnd is how many names two paths have in common at their ends.
func commonEnd(a, b string) int {
	x, y := strings.Split(filepath.ToSlash(filepath.Clean(a)), "/"), strings.Split(filepath.ToSlash(filepath.Clean(b)), "/")
	n := 0
	for n < len(x) && n < len(y) && x[len(x)-1-n] == y[len(y)-1-n] {
		n++
	}
	return n
}

// scope is what thresholds can be for: what is compared, and what a filter
// leaves out of it.
func (m *matchup) scope(t *ui.Terminal, machines *cli.MachineFlags) (thresholds.Scope, error) {
	if m.suite == nil {
		return m.storedScope(), nil
	}
	scope, err := scopeOn(machines, t, m.suite.Kernels)
	scope.Benchmarks = slices.Clone(m.all)
	for _, p := range m.pairs {
		job := p.Head
		if job == nil {
			job = p.Base
		}
		scope.Benchmarks = unit.AppendNew(scope.Benchmarks, thresholds.Benchmark{Name: p.Name(), Driver: job.Driver()})
	}
	return scope, err
}

// storedScope is the scope of numbers that were stored.
func (m *matchup) storedScope() (scope thresholds.Scope) {
	for _, s := range []*side{m.head, m.base} {
		for _, run := range s.runs {
			for i := range run.Results {
				r := &run.Results[i]
				scope.Benchmarks = unit.AppendNew(scope.Benchmarks, thresholds.Benchmark{Name: r.Benchmark, Driver: r.Driver})
				scope.AddUnits(r)
			}
		}
	}
	for _, run := range m.head.runs {
		scope.Kernels = append(scope.Kernels, thresholds.KernelOf(&run.Testbed))
		scope.Modes = unit.AppendNew(scope.Modes, run.Testbed.Mode)
	}
	return scope
}

// reads are the files that the comparison is made from, with those given.
func (m *matchup) reads(more ...string) []string {
	names := append(more, m.base.Name, m.head.Name)
	for _, s := range []*suite.Suite{m.suite, m.objects.own} {
		if s != nil && !s.Bundled {
			names = slices.AppendSeq(names, maps.Keys(s.Files()))
		}
	}
	return names
}
