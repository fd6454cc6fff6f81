package runner

import "github.com/org/ebpf-bench-action/internal/bench"

// fewApart is the part of the rounds that may have had the CPUs apart without
// changing a median.
const fewApart = 0.25

// contention is what it costs a run that others run on all CPUs, round by round:
// the difference to a run alone, both net of their floors.
func contention(rounds, floor *bench.Counters, alone, aloneFloor *bench.Counters) bench.Sample {
	s := bench.Sample{Measure: bench.Contention}
	for i := range min(len(rounds.RunCnt), len(floor.RunCnt), len(alone.RunCnt), len(aloneFloor.RunCnt)) {
		if rounds.RunCnt[i] == 0 || floor.RunCnt[i] == 0 || alone.RunCnt[i] == 0 || aloneFloor.RunCnt[i] == 0 {
			continue
		}
		together, single := perRun(rounds, i)-perRun(floor, i), perRun(alone, i)-perRun(aloneFloor, i)
		s.Values = append(s.Values, round(together-single))
	}
	return s
}
