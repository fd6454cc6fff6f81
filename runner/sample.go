package runner

import (
	"math"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// timedSamples derives the values of each round from its counters. A round in
// which the program did not run, as its counters show, has no value.
func timedSamples(r *bench.Result) []bench.Sample {
	raw := bench.Sample{Measure: bench.LatencyRaw}
	floor := bench.Sample{Measure: bench.LatencyFloor}
	net := bench.Sample{Measure: bench.Latency}
	rate := bench.Sample{Measure: bench.Throughput}
	for i, runs := range r.Rounds.RunCnt {
		if runs == 0 {
			continue
		}
		cost := perRun(&r.Rounds, i)
		raw.Values = append(raw.Values, unit.Round(cost))
		if i < len(r.Floor.RunCnt) && r.Floor.RunCnt[i] > 0 {
			empty := perRun(&r.Floor, i)
			floor.Values = append(floor.Values, unit.Round(empty))
			net.Values = append(net.Values, unit.Round(cost-empty))
		}
		if wall := r.Rounds.WallNS[i]; wall > 0 {
			rate.Values = append(rate.Values, math.Round(float64(runs)/float64(wall)*1e9))
		}
	}
	all := []bench.Sample{net, raw, floor}
	if bench.CanMeasure(r.Driver, bench.Throughput.Name) {
		all = append(all, rate)
	}
	kept := all[:0]
	for _, s := range all {
		if len(s.Values) > 0 {
			kept = append(kept, s)
		}
	}
	return kept
}

func perRun(c *bench.Counters, i int) float64 {
	return float64(c.RunTimeNS[i]) / float64(c.RunCnt[i])
}
