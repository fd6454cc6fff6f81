package runner

import (
	"slices"
	"testing"
	"time"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/testenv"
)

// forecast is a Progress that keeps the announcement of Start.
type forecast struct {
	silent
	rounds   int
	estimate time.Duration
}

func (f *forecast) Start(rounds int, estimate time.Duration) { f.rounds, f.estimate = rounds, estimate }

// However small the budget is, each load has a round, and the forecast includes
// the loads.
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
	run, err = Measure(t.Context(), &Plan{Jobs: []*Job{j}}, Options{Rounds: loads + 1, Loads: loads})
	if err != nil {
		t.Fatal(err)
	}
	if rounds := run.Results[0].Rounds.Load; len(rounds) != loads+1 {
		t.Errorf("%d rounds, want %d", len(rounds), loads+1)
	}
	// Each load warms up both the program and its floor.
	if least := (loads - 1) * 2 * warmUpTime; said.estimate < least {
		t.Errorf("told %s, which is less than the %s of warming up", said.estimate, least)
	}
}
