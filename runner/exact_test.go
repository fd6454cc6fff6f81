package runner

import (
	"slices"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
)

func TestUndisturbed(t *testing.T) {
	ran := func(runs uint64, took ...uint64) (rounds []driver.Counters) {
		for _, ns := range took {
			rounds = append(rounds, driver.Counters{RunTimeNS: ns, RunCnt: runs})
		}
		return rounds
	}
	for _, test := range []struct {
		name       string
		rounds     []driver.Counters
		runs, took uint64 // both 0 if no rounds agree
	}{
		{"the tick adds", ran(200, 49600, 50861, 49600, 49600, 49600), 200, 49600},
		{"fewer rounds all agree", ran(200, 49600, 49600), 200, 49600},
		{"a late window has a lower mean", append(ran(20, 47532, 47566, 47532, 47532, 47532), ran(21, 49908, 49908, 49908, 49908)...), 20, 47532},
		{"as many late as not", append(ran(21, 49908, 49908, 49908, 49908), ran(20, 47532, 47532, 47532, 47532)...), 20, 47532},
		{"cheaper by chance", ran(2, 99, 100, 100, 5000, 100, 100, 99, 99), 2, 100},
		{"a round without a run", append(ran(3, 300, 300), driver.Counters{}), 3, 300},
		{"no run at all", []driver.Counters{{}, {}}, 0, 0},
		{"none twice", ran(64, 43392, 43408, 43384, 43416, 43424, 43404, 43400, 43428), 0, 0},
		{"each number of runs too rarely", append(append(ran(6, 5205, 5205, 5205), ran(7, 6420, 6420, 6420)...), ran(8, 7106, 7106)...), 0, 0},
	} {
		got, ok := undisturbed(test.rounds)
		if want := (driver.Counters{RunTimeNS: test.took, RunCnt: test.runs}); ok != (test.runs > 0) || ok && got != want {
			t.Errorf("%s: %+v, %t, want %+v", test.name, got, ok, want)
		}
	}
}

func TestLeastRepeated(t *testing.T) {
	for _, test := range []struct {
		values []uint64
		want   uint64
		ok     bool
	}{
		{[]uint64{19792, 19110, 19792, 21035, 19792}, 19792, true},
		{[]uint64{5, 4, 5, 4, 5, 4}, 4, true},
		{[]uint64{7, 9, 8}, 0, false},
		{[]uint64{7, 7}, 0, false},
		{nil, 0, false},
	} {
		if got, ok := leastRepeated(test.values, 3); got != test.want || ok != test.ok {
			t.Errorf("%v: %d, %t, want %d, %t", test.values, got, ok, test.want, test.ok)
		}
	}
}

// Rounds that do not agree are told by the middle half of them.
func TestCountsThatVary(t *testing.T) {
	r := &bench.Result{
		Rounds: bench.Counters{RunTimeNS: []uint64{200, 210, 9000, 190, 0, 230, 240, 250, 1}, RunCnt: []uint64{2, 2, 2, 2, 0, 2, 2, 2, 1}},
		Floor:  bench.Counters{RunTimeNS: []uint64{80}, RunCnt: []uint64{2}},
	}
	want := map[string][]float64{
		bench.Instructions.Name:      {60, 70, 80},
		bench.InstructionsRaw.Name:   {100, 110, 120},
		bench.InstructionsFloor.Name: {40},
	}
	got := exactSamples(r, 0)
	for _, s := range got {
		if !slices.Equal(s.Values, want[s.Measure.Name]) {
			t.Errorf("%s: %v, want %v", s.Measure.Name, s.Values, want[s.Measure.Name])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d measures, want %d", len(got), len(want))
	}
}
