package stat

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// rounds are the values of one measure, one element per round. A round without
// a value is NaN.
type rounds struct {
	load []int
	// gross is the value before the floor is subtracted. The floor is 0 for
	// measures that have none.
	gross, floor []float64
}

// roundsOf derives a measure's values from the counters of a result, or takes those of its
// sample if that has one for each round. Costs are in nanoseconds, throughput in runs per
// second.
func roundsOf(r *bench.Result, measure string) (rounds, error) {
	c := &r.Rounds
	n := len(c.RunCnt)
	if s := r.Sample(measure); r.Ingested() && s != nil {
		return valuesOf(s), nil
	}
	if len(c.Load) != n || len(c.RunTimeNS) != n {
		return rounds{}, fmt.Errorf("counters of %s have different lengths", r.Benchmark)
	}
	s := rounds{load: c.Load, gross: make([]float64, n), floor: make([]float64, n)}
	for i := range n {
		switch measure {
		case bench.Latency.Name:
			s.gross[i], s.floor[i] = cost(c, i), cost(&r.Floor, i)
		case bench.LatencyRaw.Name:
			s.gross[i] = cost(c, i)
		case bench.LatencyFloor.Name:
			s.gross[i] = cost(&r.Floor, i)
		case bench.Throughput.Name:
			s.gross[i] = rate(c, i)
		default:
			sample := r.Sample(measure)
			if sample == nil || len(sample.Values) != n {
				return rounds{}, fmt.Errorf("measure %s has no value for each round", measure)
			}
			s.gross[i] = sample.Values[i] // net of the floor
		}
	}
	return s, nil
}

// valuesOf treats each value of a sample as a separate load: another tool
// measured it, and does not say what the values have in common.
func valuesOf(sample *bench.Sample) rounds {
	n := len(sample.Values)
	s := rounds{load: make([]int, n), gross: sample.Values, floor: make([]float64, n)}
	for i := range s.load {
		s.load[i] = i
	}
	return s
}

// cost returns the cost of a run in a round, in nanoseconds.
func cost(c *bench.Counters, i int) float64 {
	if i >= len(c.RunCnt) || i >= len(c.RunTimeNS) || c.RunCnt[i] == 0 {
		return math.NaN()
	}
	return float64(c.RunTimeNS[i]) / float64(c.RunCnt[i])
}

// rate returns the number of runs per second of driving the program.
func rate(c *bench.Counters, i int) float64 {
	if i >= len(c.WallNS) || c.WallNS[i] == 0 || c.RunCnt[i] == 0 {
		return math.NaN()
	}
	return float64(c.RunCnt[i]) / float64(c.WallNS[i]) * 1e9
}

// FloorNoise returns how much the cost of the empty program varies from round
// to round, in nanoseconds: the interquartile range.
func FloorNoise(r *bench.Result) float64 {
	var costs []float64
	for i := range r.Floor.RunCnt {
		if c := cost(&r.Floor, i); !math.IsNaN(c) {
			costs = append(costs, c)
		}
	}
	if len(costs) == 0 {
		return 0
	}
	slices.Sort(costs)
	return spread(costs)
}

// net returns the value of a round minus its floor.
func (r *rounds) net(i int) float64 { return r.gross[i] - r.floor[i] }

// maxLoads bounds comparisons: nobody measures that many loads, and a result
// file can come from a stranger's pull request.
const maxLoads = 2000

// byLoad returns the rounds of each load that have a value on all sides, the
// loads in order of appearance. It fails if there are none, or more than
// maxLoads.
func byLoad(sides ...*rounds) ([][]int, error) {
	at := map[int]int{}
	var loads [][]int
next:
	for i, load := range sides[0].load {
		for _, s := range sides {
			if math.IsNaN(s.net(i)) {
				continue next
			}
		}
		if _, ok := at[load]; !ok {
			at[load] = len(loads)
			loads = append(loads, nil)
		}
		loads[at[load]] = append(loads[at[load]], i)
	}
	switch {
	case len(loads) == 0 && len(sides) == 1:
		return nil, errors.New("no round has a value")
	case len(loads) == 0:
		return nil, errors.New("no round has a value on both sides")
	case len(loads) > maxLoads:
		return nil, fmt.Errorf("%d loads are more than the %d that can be compared", len(loads), maxLoads)
	}
	return loads, nil
}

// medianOf returns the median of a figure over some rounds.
func medianOf(rounds []int, figure func(i int) float64) float64 {
	values := make([]float64, len(rounds))
	for j, i := range rounds {
		values[j] = figure(i)
	}
	return median(values)
}
