package runner

import (
	"slices"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/stat"
)

func resultWith(m bench.Measure, values ...float64) *bench.Result {
	return &bench.Result{Samples: []bench.Sample{{Measure: m, Values: values}}}
}

func TestCountsAreApart(t *testing.T) {
	results := func(values ...float64) (all []*bench.Result) {
		for _, v := range values {
			all = append(all, resultWith(bench.Instructions, v-1, v, v+9))
		}
		return all
	}
	for _, c := range []struct {
		bases, heads []*bench.Result
		want         bool
	}{
		{results(100), results(101), true},
		{results(100, 101), results(102, 103), true},
		{results(102, 103), results(100, 101), true},
		{results(100, 102), results(101, 103), false},
		{results(100, 101), results(101, 102), false},
		{results(100), results(100), false},
		{results(100), []*bench.Result{resultWith(bench.BPFInsns, 7)}, false},
		{[]*bench.Result{resultWith(bench.InstructionsPath, 7)}, []*bench.Result{resultWith(bench.InstructionsPath, 8)}, true},
		{[]*bench.Result{resultWith(bench.XlatedBytes, 7)}, []*bench.Result{resultWith(bench.XlatedBytes, 8)}, false},
	} {
		if got := apart(c.bases, c.heads); got != c.want {
			t.Errorf("%v, %v: %t, want %t", c.bases[0].Samples, c.heads[0].Samples, got, c.want)
		}
	}
	all := results(5, 4, 6)
	together(all)
	if got := all[0].Samples[0].Values; !slices.Equal(got, []float64{5, 4, 6}) {
		t.Errorf("together they are %v", got)
	}
}

// As many counts as are made at most suffice for a verdict, and one fewer do not.
func TestEnoughCounts(t *testing.T) {
	side := func(n int, from float64) (values []float64) {
		for i := range n {
			values = append(values, from+float64(i))
		}
		return values
	}
	if !stat.Apart(side(mostCounts, 100), side(mostCounts, 200)) || !stat.Apart(side(mostCounts, 200), side(mostCounts, 100)) {
		t.Errorf("%d counts of each side say nothing", mostCounts)
	}
	if stat.Apart(side(mostCounts-1, 100), side(mostCounts-1, 200)) {
		t.Errorf("%d counts of each side would be enough", mostCounts-1)
	}
	if stat.Apart(side(mostCounts, 100), side(mostCounts, 107)) {
		t.Error("counts that overlap are apart")
	}
}

// What an event costs on its whole path may change by what the program does, and by other
// amounts if the kernel does less or more, or by chance.
func TestPathFollows(t *testing.T) {
	result := func(run, path float64) *bench.Result {
		r := resultWith(bench.Instructions, run)
		r.Samples = append(r.Samples, bench.Sample{Measure: bench.InstructionsPath, Values: []float64{path}})
		return r
	}
	for _, c := range []struct {
		base, head *bench.Result
		want       bool
	}{
		{result(100, 300), result(110, 310), true},
		{result(100, 300), result(110, 300), true},
		{result(100, 300), result(100, 301), false},
		{result(100, 300), result(110, 290), false},
		{resultWith(bench.Instructions, 100), resultWith(bench.Instructions, 110), true},
	} {
		if got := pathFollows(c.base, c.head); got != c.want {
			t.Errorf("%v, %v: %t, want %t", c.base.Samples, c.head.Samples, got, c.want)
		}
	}
}
