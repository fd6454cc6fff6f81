package sides

import (
	"context"
	"fmt"
	"slices"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// Search finds what the arguments of search name: benchmarks or programs of the suite, or
// a build, or several objects.
func (o Options) Search(ctx context.Context, args []string) (*Explained, error) {
	if len(args) <= 1 {
		return o.Explain(ctx, args)
	}
	builds := 0
	for _, arg := range args {
		if isBuild(arg) {
			builds++
		}
	}
	switch builds {
	case 0:
		return o.several(args)
	case len(args):
		all, err := o.objects(ctx, args)
		if err != nil {
			return nil, err
		}
		return o.oneSide(all)
	}
	return nil, bench.WithHint(fmt.Errorf("%s are names of the suite and builds", unit.Few(args)), "give either, or search twice")
}

// objects opens objects as one build.
func (o Options) objects(ctx context.Context, args []string) (*Side, error) {
	all := &Side{Side: bench.Side{Name: unit.Plural(len(args), "object")}}
	for _, arg := range args {
		s, err := o.Open(ctx, arg)
		if err != nil {
			return nil, err
		}
		if s.Objects == nil || s.Suite != nil || s.Program != "" {
			return nil, bench.WithHint(fmt.Errorf("%s is not just an object", arg), "of several arguments each is an object or a folder of objects; a suite, or one program of an object, is given alone")
		}
		for _, object := range s.Objects {
			i := slices.IndexFunc(all.Objects, func(has suite.Object) bool { return has.Path == object.Path })
			switch {
			case i < 0:
				all.Objects = append(all.Objects, object)
			case all.Objects[i].SHA256 != object.SHA256:
				return nil, bench.WithHint(fmt.Errorf("%s and %s have the same name", all.Objects[i].File, object.File), "search one after the other, or name both in a suite")
			}
		}
	}
	return all, nil
}

// several returns what names mean in the suite.
func (o Options) several(names []string) (*Explained, error) {
	here, err := o.here()
	if err != nil {
		return nil, err
	}
	s := here.Suite
	m := &Matchup{Base: here, Head: here, Suite: s}
	m.Objects.Head = s.Objects
	for _, name := range names {
		found := benchmarksNamed(s, name)
		if len(found) == 0 {
			return nil, unknownBenchmark(s, name)
		}
		for _, b := range found {
			m.Objects.Only = unit.AppendNew(m.Objects.Only, b.Name)
		}
	}
	e := &Explained{m, ExplainPlan{One: true}}
	m.Pairs, err = e.Plan(&m.Objects, s)
	return e, err
}

// HeadSuite returns the suite as the head has it: its objects, and the benchmarks that were
// named.
func (s *Explained) HeadSuite() (*suite.Suite, error) { return s.Objects.HeadSuite(s.Suite) }

// HeadSuite returns a suite as the head has it.
func (o *Objects) HeadSuite(s *suite.Suite) (*suite.Suite, error) {
	head, _, err := o.apply(s)
	return head, err
}
