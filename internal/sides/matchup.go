package sides

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
	"github.com/org/ebpf-bench-action/internal/strictyaml"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/runner"
	"github.com/org/ebpf-bench-action/thresholds"
)

// Matchup is two sides to compare. Sides with objects are measured by a suite,
// which has the head's objects; sides without are numbers, and have no suite.
type Matchup struct {
	Base, Head *Side
	Suite      *suite.Suite
	// MadeUp says that the suite was generated from the objects.
	MadeUp  bool
	Objects Objects
	// All are the benchmarks of the suite, including those that a filter leaves
	// out.
	All []thresholds.Benchmark
	// Pairs are those of the shard to measure, Total is how many there are in
	// all shards.
	Pairs []runner.PairJob
	Total int
	// LeftOut are benchmarks whose programs neither side has, if the suite was
	// not made for the sides.
	LeftOut []string

	// filter leaves out benchmarks of numbers.
	filter nameFilter
}

// Match opens BASE and HEAD, or BASE and the suite in this folder.
func (o Options) Match(ctx context.Context, args []string) (_ *Matchup, err error) {
	opener := &opener{Options: o}
	m := &Matchup{filter: nameFilter{o.Filter}}
	// The head decides which of several stored runs is its base.
	if len(args) > 1 {
		m.Head, err = opener.open(ctx, args[1])
	} else {
		m.Head, err = o.here()
	}
	if err != nil {
		return nil, err
	}
	opener.headObjects = m.Head.Objects != nil
	if o.Near != nil {
		opener.near = o.Near(m.Head)
	}
	if m.Base, err = opener.open(ctx, args[0]); err != nil {
		return nil, &BaseError{err}
	}
	if err := m.checkPrograms(); err != nil {
		return nil, err
	}
	numbers := func(s *Side) bool { return s.Objects == nil }
	switch {
	case o.Command == "explain" && (numbers(m.Base) || numbers(m.Head)):
		return nil, noObjects(m.Base, m.Head)
	case numbers(m.Base) && numbers(m.Head), m.Base.Runs != nil && m.Head.Runs != nil && (numbers(m.Base) || numbers(m.Head)):
		// Only one side could be measured, so compare its stored numbers.
		return m, errors.Join(m.checkModes(), m.filter.check(m.Base, m.Head))
	case (m.Base.Program == "") != (m.Head.Program == ""):
		return nil, fmt.Errorf("%s and %s: name a program of both, or of neither", m.Base.Name, m.Head.Name)
	case numbers(m.Base) != numbers(m.Head):
		return nil, bench.WithHint(fmt.Errorf("%s and %s: one has objects and the other only numbers", m.Base.Name, m.Head.Name),
			"measure the objects first, by ebpf-bench run --out; or give the objects of both")
	}
	if err := o.plan(m); err != nil {
		return nil, err
	}
	return m, nil
}

// BaseError says why the base cannot be opened, in the words of the errors that it has.
type BaseError struct{ err error }

func (e *BaseError) Error() string { return e.err.Error() }

// Unwrap returns the errors, which may be several of a suite.
func (e *BaseError) Unwrap() []error { return []error{e.err} }

// here opens the suite in this folder with its objects.
func (o Options) here() (*Side, error) {
	s, err := suite.Open(o.Suite)
	if err != nil {
		return nil, err
	}
	return &Side{Side: bench.Side{Name: s.File}, Suite: s, Objects: s.Objects}, nil
}

// plan finds the suite that drives both sides, and what each side has of it:
// the suite that the user names, else the head's, else the base's, else one
// generated from the objects.
func (o Options) plan(m *Matchup) (err error) {
	switch {
	case o.Suite != "":
		m.Suite, err = suite.Load(suite.OS, filepath.ToSlash(o.Suite))
	case m.Head.Suite != nil:
		m.Suite = m.Head.Suite
		if m.Head.Program == "" {
			m.Objects.Own = m.Base.Suite
		}
	case m.Base.Suite != nil:
		m.Suite = m.Base.Suite
	default:
		m.MadeUp = true
		m.Suite, err = madeUpSuite(m)
	}
	if err != nil {
		return err
	}
	m.Objects.Head, m.Objects.HeadProgram = inPlaceOf(m.Suite.Objects, m.Head.Objects), m.Head.Program
	m.Objects.Base, m.Objects.BaseProgram = inPlaceOf(m.Objects.Head, m.Base.Objects), m.Base.Program
	if err := m.choose(o.Filter); err != nil {
		return err
	}
	if o.Suite != "" {
		if err := m.leaveOut(); err != nil {
			return err
		}
	}
	if m.Pairs, err = m.Objects.Plan(m.Suite); err != nil {
		return err
	}
	if m.Objects.Alike = runner.Alike(m.Pairs); len(m.Objects.Alike) > 0 {
		if m.Pairs, err = m.Objects.Plan(m.Suite); err != nil {
			return err
		}
	}
	m.Total, m.Pairs = len(m.Pairs), bench.PartOf(o.Shard, m.Pairs)
	for _, p := range m.Pairs {
		m.Objects.Only = append(m.Objects.Only, p.Name())
		if p.LooksLike != "" {
			m.Objects.Only = append(m.Objects.Only, p.LooksLike)
		}
	}
	return nil
}

// choose takes the benchmarks of both sides' suites whose names match.
func (m *Matchup) choose(re *regexp.Regexp) error {
	m.All = Benchmarks(m.Suite)
	own := m.Objects.Own
	if own == nil {
		return m.Suite.Filter(re)
	}
	for _, b := range Benchmarks(own) {
		m.All = unit.AppendNew(m.All, b)
	}
	inHead, inBase := m.Suite.Filter(re), own.Filter(re)
	switch {
	case inBase != nil:
		own.Benchmarks = nil
		return inHead
	case inHead != nil: // so they were removed
		m.Suite.Benchmarks = nil
	}
	return nil
}

// leaveOut leaves out what neither side has of a suite that was not made for
// them, unless nothing would be left.
func (m *Matchup) leaveOut() error {
	head, base, err := m.Objects.apply(m.Suite)
	if err != nil {
		return err
	}
	without, err := runner.NeitherHas(head, base)
	if n := len(without); err != nil || n == 0 || n == len(head.Benchmarks) {
		return err
	}
	m.Suite.Benchmarks = slices.DeleteFunc(slices.Clone(m.Suite.Benchmarks), func(b bench.Benchmark) bool { return slices.Contains(without, b.Name) })
	m.LeftOut = without
	return nil
}

// inPlaceOf gives objects the paths of other builds of the same object:
// the only one of each, or else the one with the same path, or with the most
// folders at its end in common. Each stands for one.
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
		if n := NearestPath(mine, free); n >= 0 {
			objects[i].Path = free[n]
			free = slices.Delete(free, n, n+1)
		}
	}
	return objects
}

// NearestPath returns the index of the path that has the most of its end in
// common with path, or -1 if none shares a name or several share as much.
func NearestPath(path string, paths []string) int {
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

// commonEnd returns how many names two paths have in common at their ends.
func commonEnd(a, b string) int {
	x, y := strings.Split(filepath.ToSlash(filepath.Clean(a)), "/"), strings.Split(filepath.ToSlash(filepath.Clean(b)), "/")
	n := 0
	for n < len(x) && n < len(y) && x[len(x)-1-n] == y[len(y)-1-n] {
		n++
	}
	return n
}

// Benchmarks returns the benchmarks of a suite as thresholds need them.
func Benchmarks(s *suite.Suite) []thresholds.Benchmark {
	var all []thresholds.Benchmark
	for i := range s.Benchmarks {
		b := &s.Benchmarks[i]
		all = append(all, thresholds.Benchmark{Name: b.Name, Driver: b.Driver()})
	}
	return all
}

// Scope returns what thresholds can apply to: what is compared, and what a
// filter leaves out of it. If it is yet to be measured, the scope has no
// kernels.
func (m *Matchup) Scope() (scope thresholds.Scope) {
	if m.Suite == nil {
		return m.storedScope()
	}
	scope.Benchmarks = slices.Clone(m.All)
	for _, p := range m.Pairs {
		job := p.Head
		if job == nil {
			job = p.Base
		}
		scope.Benchmarks = unit.AppendNew(scope.Benchmarks, thresholds.Benchmark{Name: p.Name(), Driver: job.Driver()})
	}
	return scope
}

// storedScope returns the scope of stored numbers.
func (m *Matchup) storedScope() (scope thresholds.Scope) {
	for _, s := range []*Side{m.Head, m.Base} {
		for _, run := range s.Runs {
			for i := range run.Results {
				r := &run.Results[i]
				scope.Benchmarks = unit.AppendNew(scope.Benchmarks, thresholds.Benchmark{Name: r.Benchmark, Driver: r.Driver})
				scope.AddUnits(r)
			}
		}
	}
	for _, run := range m.Head.Runs {
		scope.Kernels = append(scope.Kernels, thresholds.KernelOf(&run.Testbed))
		scope.Modes = unit.AppendNew(scope.Modes, run.Testbed.Mode)
	}
	return scope
}

// Name names the sides of a comparison.
func (m *Matchup) Name(c *bench.Comparison) { c.Base, c.Head = m.Base.Side, m.Head.Side }

// Reads returns more and the files from which the comparison is made.
func (m *Matchup) Reads(more ...string) []string {
	names := append(more, m.Base.Name, m.Head.Name)
	for _, s := range []*suite.Suite{m.Suite, m.Objects.Own} {
		if s != nil && !s.Bundled {
			names = slices.AppendSeq(names, maps.Keys(s.Files()))
		}
	}
	return names
}

// checkPrograms refuses objects that cannot be read, while they have their own names, and a
// program that its side lacks: otherwise it would be measured only on the other side, and
// reported as removed.
func (m *Matchup) checkPrograms() error {
	for _, s := range []*Side{m.Base, m.Head} {
		names, err := runner.Programs(s.Objects)
		if err != nil && !slices.ContainsFunc(s.Objects, func(o suite.Object) bool { return o.Path == s.Name }) {
			err = fmt.Errorf("%s: %w", s.Name, err)
		}
		if err != nil {
			return err
		}
		if s.Program != "" && !slices.Contains(names, s.Program) {
			return fmt.Errorf("%s: unknown program %q%s: there are %s", s.Name, s.Program,
				strictyaml.DidYouMean(s.Program, names), strings.Join(names, ", "))
		}
	}
	return nil
}

// NotCompared names the benchmarks that interrupted comparisons did not reach,
// or did not measure far enough for a figure.
func (m *Matchup) NotCompared(comparisons []*bench.Comparison) error {
	var left []string
	for _, c := range comparisons {
		for _, p := range m.Pairs {
			if c.Partial && !measured(c, p.Name()) {
				left = unit.AppendNew(left, p.Name())
			}
		}
	}
	if len(left) == 0 {
		return nil
	}
	return fmt.Errorf("not compared: %s", strings.Join(left, ", "))
}

// measured reports whether a comparison has a benchmark, or says why not.
func measured(c *bench.Comparison, benchmark string) bool {
	ended := func(r *bench.Result) bool {
		return r == nil || r.Error != "" || r.Driver == bench.DriverVerify || r.Rounds.Runs() > 0
	}
	return slices.ContainsFunc(c.Pairs, func(p bench.Pair) bool {
		return p.Benchmark == benchmark && ended(p.Base) && ended(p.Head)
	})
}
