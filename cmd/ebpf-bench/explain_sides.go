package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/git"
	"github.com/org/ebpf-bench-action/internal/strictyaml"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/runner"
)

// explainSides is what is explained: one side, or two as compare has them.
type explainSides struct {
	*matchup
	explainPlan
}

// explainPlan is what a guest must know beside the objects.
type explainPlan struct {
	// One says that there is just the head.
	One bool `json:"one,omitempty"`
	// BaseObject is the object of the base's program where that is another one of
	// the same suite.
	BaseObject string `json:"base_object,omitempty"`
	// Code asks for the instructions of each line.
	Code bool `json:"code,omitempty"`
}

// open finds what the arguments name.
func (f *explainFlags) open(ctx context.Context, t *ui.Terminal, args []string) (*explainSides, error) {
	// What compare does with sides.
	c := &compareFlags{suite: f.suite, store: f.store, machines: f.machines, command: "explain"}
	if len(args) == 0 {
		here, err := c.here(t)
		if err != nil {
			return nil, err
		}
		return f.oneSide(t, c, here)
	}
	builds := 0
	for _, arg := range args {
		if isBuild(arg) {
			builds++
		}
	}
	if builds == 1 && len(args) == 2 {
		if err := mixed(c, args); err != nil {
			return nil, err
		}
	}
	if builds == 0 {
		s, err := f.named(ctx, t, c, args)
		if s != nil || err != nil {
			return s, err
		}
	}
	if len(args) == 2 {
		m, err := c.open(ctx, t, args)
		if err != nil {
			return nil, err
		}
		return &explainSides{matchup: m}, nil
	}
	opener := &sideOpener{store: f.store.open(), command: c.command}
	s, err := opener.open(ctx, args[0])
	if err != nil {
		return nil, err
	}
	return f.oneSide(t, c, s)
}

// mixed refuses a benchmark beside a build: what drives the one is not known of the
// other.
func mixed(c *compareFlags, args []string) error {
	here, err := c.here(ui.New(io.Discard, io.Discard))
	if err != nil {
		return nil // which is told by what needs it
	}
	for i, arg := range args {
		if build := args[1-i]; !isBuild(arg) && len(benchmarksNamed(here.suite, arg)) > 0 {
			program := benchmarksNamed(here.suite, arg)[0].Program
			return bench.WithHint(fmt.Errorf("%s is a benchmark of %s, and %s is a build: give two benchmarks, or two builds", arg, here.suite.Name(), build),
				fmt.Sprintf("one program of a build is such as %s:%s", strings.TrimSuffix(build, ":"+program), program))
		}
	}
	return nil
}

// isBuild tells whether an argument is there as a build, whatever the suite has of
// that name.
func isBuild(arg string) bool {
	if strings.HasPrefix(arg, "baseline:") {
		return true
	}
	name := arg
	if i := strings.LastIndexByte(arg, ':'); i > 0 {
		name = arg[:i]
	}
	for _, name := range []string{arg, name} {
		if _, err := os.Stat(name); err == nil {
			return true
		}
	}
	return strings.HasSuffix(name, ".o")
}

// noObjects refuses sides without anything that could be run.
func noObjects(sides ...*side) error {
	for _, s := range sides {
		if s.objects == nil {
			return bench.WithHint(fmt.Errorf("%s has no objects, just numbers: there is nothing to count in", s.Name),
				"give the objects, or a run of the baseline that was saved with them")
		}
	}
	return errors.New("there are no objects on one of the sides")
}

// oneSide is all of one side.
func (f *explainFlags) oneSide(t *ui.Terminal, c *compareFlags, s *side) (*explainSides, error) {
	if s.objects == nil {
		return nil, noObjects(s)
	}
	m := &matchup{base: s, head: s}
	if err := m.checkPrograms(); err != nil {
		return nil, err
	}
	if err := c.plan(t, m, regexp.MustCompile("")); err != nil {
		return nil, err
	}
	m.objects.own, m.objects.Base, m.objects.BaseProgram = nil, nil, ""
	for i := range m.pairs {
		m.pairs[i].Base = nil
	}
	return &explainSides{m, explainPlan{One: true}}, nil
}

// named is what the suite has by the names, nil where it has none of them and they
// may be revisions.
func (f *explainFlags) named(ctx context.Context, t *ui.Terminal, c *compareFlags, args []string) (*explainSides, error) {
	here, err := c.here(t)
	if err != nil {
		return nil, err
	}
	s := here.suite
	found := make([][]bench.Benchmark, len(args))
	var unknown []string
	for i, arg := range args {
		if found[i] = benchmarksNamed(s, arg); len(found[i]) == 0 {
			unknown = append(unknown, arg)
		}
	}
	if len(unknown) > 0 {
		if _, err := git.Commit(ctx, unknown[0]); err == nil && len(unknown) == len(args) {
			return nil, nil
		}
		return nil, unknownBenchmark(s, unknown[0])
	}
	head := found[len(found)-1]
	m := &matchup{base: &side{Side: bench.Side{Name: args[0]}}, head: &side{Side: bench.Side{Name: args[len(args)-1]}}, suite: s}
	m.objects.Head = s.Objects
	for _, b := range head {
		m.objects.Only = append(m.objects.Only, b.Name)
	}
	out := &explainSides{m, explainPlan{One: len(args) == 1}}
	if !out.One {
		base := found[0]
		for _, b := range base {
			if b.Program != base[0].Program || b.Object != base[0].Object {
				return nil, fmt.Errorf("%s is several programs: %s", args[0], strings.Join(programsOf(base), ", "))
			}
		}
		m.objects.Base, m.objects.BaseProgram, out.BaseObject = s.Objects, base[0].Program, base[0].Object
	}
	m.pairs, err = out.plan(&m.objects, s)
	return out, err
}

// benchmarksNamed are the benchmarks that a name stands for: the one of that name,
// or those of the program, or those whose names end so, behind a slash.
func benchmarksNamed(s *suite.Suite, name string) []bench.Benchmark {
	for _, means := range []func(bench.Benchmark) bool{
		func(b bench.Benchmark) bool { return b.Name == name },
		func(b bench.Benchmark) bool { return b.Program == name },
		func(b bench.Benchmark) bool { return strings.HasSuffix(b.Name, "/"+name) },
	} {
		found := slices.DeleteFunc(slices.Clone(s.Benchmarks), func(b bench.Benchmark) bool { return !means(b) })
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

func programsOf(benchmarks []bench.Benchmark) []string {
	var names []string
	for _, b := range benchmarks {
		names = unit.AppendNew(names, b.Program)
	}
	return names
}

func unknownBenchmark(s *suite.Suite, name string) error {
	var names, known []string
	for _, b := range s.Benchmarks {
		names = append(names, b.Name)
		known = append(known, b.Name, b.Program, b.Name[strings.LastIndexByte(b.Name, '/')+1:])
	}
	return bench.WithHint(fmt.Errorf("%q is no file, and no benchmark or program of %s%s", name, s.Name(), strictyaml.DidYouMean(name, known)),
		"there are: "+strings.Join(names, ", "))
}

// plan resolves the benchmarks of a suite with the objects of each side.
func (p *explainPlan) plan(objects *sideObjects, s *suite.Suite) ([]runner.PairJob, error) {
	if !p.One && p.BaseObject == "" {
		return objects.plan(s)
	}
	head, base, err := objects.apply(s)
	if err != nil {
		return nil, err
	}
	if !p.One {
		for i := range base.Benchmarks {
			base.Benchmarks[i].Object = p.BaseObject
		}
		return runner.PlanPairs(head, base)
	}
	plan, err := runner.NewPlan(head)
	if err != nil {
		return nil, err
	}
	var pairs []runner.PairJob
	for _, job := range plan.Jobs {
		pairs = append(pairs, runner.PairJob{Head: job})
	}
	return pairs, nil
}

// name says what the sides of an explanation are.
func (s *explainSides) name(e *bench.Explanation) {
	e.Head = s.head.Side
	if s.One {
		return
	}
	e.Base = &s.base.Side
	for i := range e.Programs {
		// To be measured, the objects of the base were in the place of the head's.
		base := e.Programs[i].Base
		if base == nil {
			continue
		}
		for _, o := range s.base.objects {
			if o.SHA256 == base.ObjectSHA256 {
				base.Object = o.Path
			}
		}
	}
}
