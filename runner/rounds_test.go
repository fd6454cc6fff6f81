package runner

import (
	"slices"
	"testing"
	"time"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/testenv"
)

// forecast is a Progress that keeps what it is told at the start.
type forecast struct {
	silent
	rounds   int
	estimate time.Duration
}

func (f *forecast) Start(rounds int, estimate time.Duration) { f.rounds, f.estimate = rounds, estimate }

// However small the budget is, no load is without a round, and the forecast has
// the loads in it.
func TestEveryLoadHasARound(t *testing.T) {
	testenv.Root(t)
	const loads = 2 * minRounds
	j := resolved(t, &ebpf.ProgramSpec{Type: ebpf.SchedCLS, Instructions: returns(0)}, bench.Benchmark{TestRun: &bench.TestRun{}})
	var said forecast
	run, err := Measure(t.Context(), &Plan{Jobs: []*Job{j}}, Options{Budget: 1, Loads: loads, Progress: &said})
	if err != nil {
		t.Fatal(err)
	}
	with := slices.Compact(slices.Clone(run.Results[0].Rounds.Load))
	if len(with) != loads || said.rounds != loads {
		t.Errorf("%d loads have rounds, %d rounds were told, want %d", len(with), said.rounds, loads)
	}
	// Each load warms up both the program and its floor.
	if least := (loads - 1) * 2 * warmUpTime; said.estimate < least {
		t.Errorf("told %s, which is less than the %s of warming up", said.estimate, least)
	}
}

func TestCallsOfTestRunAreKeptShort(t *testing.T) {
	for _, tc := range []struct {
		atOnce, runs int
		took         time.Duration
		want         int
	}{
		{64, 64, longCall / 10, 128},
		{64, 10, longCall / 10, 64}, // of too few runs to tell
		{64, 64, longCall, 64},
		{64, 64, 3 * longCall, 32},
		{64, 10, 3 * longCall, 5},
		{1, 1, 3 * longCall, 1},
	} {
		d := &testRun{atOnce: tc.atOnce}
		if d.adapt(tc.runs, tc.took); d.atOnce != tc.want {
			t.Errorf("after %d of %d runs in %s: %d, want %d", tc.runs, tc.atOnce, tc.took, d.atOnce, tc.want)
		}
	}
}
