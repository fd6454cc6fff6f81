package sides

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/git"
	"github.com/org/ebpf-bench-action/internal/strictyaml"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/runner"
)

// Explained is what to explain: one side, or two as in compare.
type Explained struct {
	*Matchup
	ExplainPlan
}

// ExplainPlan is what a guest must know besides the objects.
type ExplainPlan struct {
	// One says that there is only the head.
	One bool `json:"one,omitempty"`
	// BaseObject is the object of the base's program if it is another object of
	// the same suite.
	BaseObject string `json:"base_object,omitempty"`
	// Code asks for the instructions of each line.
	Code bool `json:"code,omitempty"`
}

// Explain finds what the arguments of explain name: benchmarks or programs of
// the suite, or builds.
func (o Options) Explain(ctx context.Context, args []string) (*Explained, error) {
	if len(args) == 0 {
		here, err := o.here()
		if err != nil {
			return nil, err
		}
		return o.oneSide(here)
	}
	builds := 0
	for _, arg := range args {
		if isBuild(arg) {
			builds++
		}
	}
	if builds == 1 && len(args) == 2 {
		if err := o.mixed(args); err != nil {
			return nil, err
		}
	}
	if builds == 0 {
		s, err := o.named(ctx, args)
		if s != nil || err != nil {
			return s, err
		}
	}
	if len(args) == 2 {
		m, err := o.Match(ctx, args)
		if err != nil {
			return nil, err
		}
		return &Explained{Matchup: m}, nil
	}
	s, err := o.Open(ctx, args[0])
	if err != nil {
		return nil, err
	}
	return o.oneSide(s)
}

// mixed refuses a benchmark together with a build, because the build has no
// known driver for it.
func (o Options) mixed(args []string) error {
	here, err := o.here()
	if err != nil {
		return nil // reported where it is needed
	}
	for i, arg := range args {
		if build := args[1-i]; !isBuild(arg) && len(benchmarksNamed(here.Suite, arg)) > 0 {
			program := benchmarksNamed(here.Suite, arg)[0].Program
			return bench.WithHint(fmt.Errorf("%s is a benchmark of %s, and %s is a build: give two benchmarks, or two builds", arg, here.Suite.Name(), build),
				fmt.Sprintf("one program of a build is such as %s:%s", strings.TrimSuffix(build, ":"+program), program))
		}
	}
	return nil
}

// isBuild reports whether an argument exists as a build, whatever names the
// suite has.
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

// noObjects refuses sides without anything to run.
func noObjects(sides ...*Side) error {
	for _, s := range sides {
		if s.Objects == nil {
			return bench.WithHint(fmt.Errorf("%s has no objects, just numbers: there is nothing to count in", s.Name),
				"give the objects, or a run of the baseline that was saved with them")
		}
	}
	return errors.New("there are no objects on one of the sides")
}

// oneSide explains all of one side.
func (o Options) oneSide(s *Side) (*Explained, error) {
	if s.Objects == nil {
		return nil, noObjects(s)
	}
	m := &Matchup{Base: s, Head: s}
	if err := m.checkPrograms(); err != nil {
		return nil, err
	}
	if err := o.plan(m); err != nil {
		return nil, err
	}
	m.Objects.Own, m.Objects.Base, m.Objects.BaseProgram = nil, nil, ""
	for i := range m.Pairs {
		m.Pairs[i].Base = nil
	}
	return &Explained{m, ExplainPlan{One: true}}, nil
}

// named returns what the names mean in the suite, or nil if it has none of them
// and they may be revisions.
func (o Options) named(ctx context.Context, args []string) (*Explained, error) {
	here, err := o.here()
	if err != nil {
		return nil, err
	}
	s := here.Suite
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
	m := &Matchup{Base: &Side{Side: bench.Side{Name: args[0]}}, Head: &Side{Side: bench.Side{Name: args[len(args)-1]}}, Suite: s}
	m.Objects.Head = s.Objects
	for _, b := range head {
		m.Objects.Only = append(m.Objects.Only, b.Name)
	}
	out := &Explained{m, ExplainPlan{One: len(args) == 1}}
	if !out.One {
		base := found[0]
		for _, b := range base {
			if b.Program != base[0].Program || b.Object != base[0].Object {
				return nil, fmt.Errorf("%s is several programs: %s", args[0], strings.Join(programsOf(base), ", "))
			}
		}
		m.Objects.Base, m.Objects.BaseProgram, out.BaseObject = s.Objects, base[0].Program, base[0].Object
	}
	m.Pairs, err = out.Plan(&m.Objects, s)
	return out, err
}

// benchmarksNamed returns the benchmarks that a name stands for: the one of
// that name, or those of the program, or those whose names end in a slash and
// the name.
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
	return bench.WithHint(fmt.Errorf("%q is not a file, and no benchmark or program of %s%s", name, s.Name(), strictyaml.DidYouMean(name, known)),
		"there are: "+strings.Join(names, ", "))
}

// Plan resolves the benchmarks of a suite with the objects of each side.
func (p *ExplainPlan) Plan(objects *Objects, s *suite.Suite) ([]runner.PairJob, error) {
	if !p.One && p.BaseObject == "" {
		return objects.Plan(s)
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

// Name names the sides of an explanation.
func (s *Explained) Name(e *bench.Explanation) {
	e.Head = s.Head.Side
	if s.One {
		return
	}
	e.Base = &s.Base.Side
	for i := range e.Programs {
		// To be measured, the objects of the base took the paths of the head's.
		base := e.Programs[i].Base
		if base == nil {
			continue
		}
		for _, o := range s.Base.Objects {
			if o.SHA256 == base.ObjectSHA256 {
				base.Object = o.Path
			}
		}
	}
}

// Folders returns the folders that may contain source files: this one, and
// those of the objects and the suite.
func (s *Explained) Folders() []string {
	all := []string{"."}
	for _, name := range []string{s.Head.Name, s.Base.Name} {
		if i := strings.LastIndexByte(name, ':'); i > 0 {
			name = name[:i]
		}
		if info, err := os.Stat(name); err == nil {
			if !info.IsDir() {
				name = filepath.Dir(name)
			}
			all = unit.AppendNew(all, filepath.Clean(name))
		}
	}
	if s.Suite != nil && !s.Suite.Bundled {
		dir := filepath.Dir(filepath.FromSlash(s.Suite.File))
		for _, o := range append([]suite.Object{{Path: "."}}, s.Suite.Objects...) {
			of := filepath.FromSlash(o.Path)
			if !filepath.IsAbs(of) {
				of = filepath.Join(dir, of)
			}
			if o.Path != "." {
				of = filepath.Dir(of)
			}
			if isFolder(of) {
				all = unit.AppendNew(all, of)
			}
		}
	}
	return all
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}
