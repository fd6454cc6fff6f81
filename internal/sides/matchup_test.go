package sides

import (
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/suite"
)

// Another build of an object has the same path, or else the path with the
// longest common end. If two qualify, neither is taken.
func TestInPlaceOf(t *testing.T) {
	objects := func(paths string) (all []suite.Object) {
		for _, p := range strings.Fields(paths) {
			all = append(all, suite.Object{Path: p})
		}
		return all
	}
	for _, c := range []struct{ others, objects, want string }{
		{"a/x.o b/x.o", "a/x.o b/x.o", "a/x.o b/x.o"},
		{"a/x.o b/x.o", "b/x.o a/x.o", "b/x.o a/x.o"},
		{"a/x.o b/x.o", "old/a/x.o old/b/x.o", "a/x.o b/x.o"},
		{"a/x.o b/x.o", "b/x.o old/x.o", "b/x.o a/x.o"},
		{"a/x.o b/x.o", "x.o y.o", "x.o y.o"},
		{"bpf/x.o bpf/y.o", "y.o x.o", "bpf/y.o bpf/x.o"},
		{"bpf/x.o", "z.o", "bpf/x.o"},
	} {
		var got []string
		for _, o := range inPlaceOf(objects(c.others), objects(c.objects)) {
			got = append(got, o.Path)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s in place of %s: %s, want %s", c.objects, c.others, got, c.want)
		}
	}
}

// What lacks benchmarks on either side is partial.
func TestPartialSides(t *testing.T) {
	run := func(partial bool) *Side {
		return &Side{Runs: []*bench.Run{{Partial: partial, Results: []bench.Result{{Benchmark: "a"}}}}}
	}
	for _, base := range []bool{false, true} {
		for _, head := range []bool{false, true} {
			m := &Matchup{Base: run(base), Head: run(head)}
			if c := m.Compare(); len(c) != 1 || c[0].Partial != (base || head) {
				t.Errorf("base %t, head %t: %+v", base, head, c)
			}
		}
	}
}
