package runner

import (
	"fmt"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// fewApart is the share of the rounds that may have run on the CPUs at
// different times without changing a median.
const fewApart = 0.25

// contention returns, round by round, how much more a run costs while others
// run on all CPUs than a run alone does, both net of their floors.
func contention(rounds, floor *bench.Counters, alone, aloneFloor *bench.Counters) bench.Sample {
	s := bench.Sample{Measure: bench.Contention}
	for i := range min(len(rounds.RunCnt), len(floor.RunCnt), len(alone.RunCnt), len(aloneFloor.RunCnt)) {
		if rounds.RunCnt[i] == 0 || floor.RunCnt[i] == 0 || alone.RunCnt[i] == 0 || aloneFloor.RunCnt[i] == 0 {
			continue
		}
		together, single := perRun(rounds, i)-perRun(floor, i), perRun(alone, i)-perRun(aloneFloor, i)
		s.Values = append(s.Values, unit.Round(together-single))
	}
	return s
}

// unanswered returns the warning about a program that keeps messages from being
// answered, or "" if it does not.
func unanswered(d *bench.Exchanged) string {
	if d == nil || d.Done == d.Tried {
		return ""
	}
	return fmt.Sprintf("%d of %d messages or calls had no effect: the program drops, refuses or redirects them, or this machine is too busy; the runs of the program are measured", d.Tried-d.Done, d.Tried)
}
