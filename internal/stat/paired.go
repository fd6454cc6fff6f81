package stat

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// MinNet is the least cost, in nanoseconds, that changes are related to. A run
// cannot resolve a cost below it, and a percentage of next to nothing means
// nothing.
const MinNet = 1.0

// minRatio replaces a ratio that is not positive, which has no logarithm, and is below
// every other: from milliseconds to nanoseconds. The median of the load does not depend on
// how far out an outlier is.
const minRatio = 1e-7

// ComparePair is ComparePairs of a single measurement.
func ComparePair(p *bench.Pair, measure string, confidence float64) (Change, error) {
	return ComparePairs([]*bench.Pair{p}, measure, confidence)
}

// ComparePairs compares a timed measure of a benchmark that was measured in the
// same rounds on both sides, once or several times, with an interval at a
// confidence such as 0.99.
//
// Rounds of one load are not independent: where the JIT placed a program biases
// all of them alike. So each load gives one value, the median over its rounds
// of the logarithm of head over base. Those values, of all measurements, are
// tested (signedRankP) and estimated (locate). Again, the second load of the
// base, is compared in the same way for the noise.
//
// It fails if a pair was not measured in the same rounds, or its base has no
// round.
func ComparePairs(pairs []*bench.Pair, measure string, confidence float64) (Change, error) {
	var head, again differences
	var m bench.Measure
	for _, p := range pairs {
		if p.Base == nil || p.Head == nil || p.Again == nil {
			return Change{}, fmt.Errorf("compare %s: it was not measured in pairs", p.Benchmark)
		}
		other, err := paired(p.Base, p.Head, measure)
		if err != nil {
			return Change{}, fmt.Errorf("compare %s: %w", p.Benchmark, err)
		}
		itself, err := paired(p.Base, p.Again, measure)
		if err != nil {
			return Change{}, fmt.Errorf("compare %s with itself: %w", p.Benchmark, err)
		}
		head.add(&other)
		again.add(&itself)
		m = measureOf(p.Head, measure)
	}
	c := head.change(confidence)
	c.Measure = m
	if !c.NearZero() && c.Base+c.Delta > 0 && c.Ratio > 10*minRatio { // no ratio is negative
		c.Delta = c.Base * (c.Ratio - 1)
	}
	c.Head = c.Base + c.Delta
	if noise := again.change(confidence); noise.Bounded() {
		c.Band, c.Banded = math.Abs(noise.Ratio-1), true
		c.By.Band = math.Abs(noise.Delta)
	}
	return c, nil
}

// differences compares one side with the base, load by load.
type differences struct {
	// logs are the logarithms of the ratios, deltas the differences in the
	// measure's unit; base the medians of the base.
	logs, deltas, base []float64
	// rounds were compared, left were not because one side did not run.
	rounds, left int
	measure      string
}

// add adds the loads of another measurement.
func (d *differences) add(o *differences) {
	d.logs, d.deltas = append(d.logs, o.logs...), append(d.deltas, o.deltas...)
	d.base = append(d.base, o.base...)
	d.rounds, d.left, d.measure = d.rounds+o.rounds, d.left+o.left, o.measure
}

// paired reduces each load to one difference.
//
// The ratio of a round is 1 + (h-b)/N, with the difference from that round and
// N the median net cost of the base in the load. Dividing h by b would divide
// two small differences of noisy numbers: for a program of 8 ns over a floor of
// 42 ns, 1% of noise in the gross cost is 6% of either net. In h-b the shared
// noise cancels first, including the floor. The difference between the floors
// of different types of program is a constant of the load, and subtracted as a
// median, too.
func paired(base, other *bench.Result, measure string) (differences, error) {
	b, err := roundsOf(base, measure)
	if err != nil {
		return differences{}, err
	}
	o, err := roundsOf(other, measure)
	if err != nil {
		return differences{}, err
	}
	if !slices.Equal(b.load, o.load) {
		return differences{}, errors.New("the two sides were not measured in the same rounds")
	}
	d := differences{measure: measure}
	least := math.SmallestNonzeroFloat64
	if measure == bench.Latency.Name {
		least = MinNet
	}
	loads, err := byLoad(&b, &o)
	if err != nil {
		return differences{}, err
	}
	for _, rounds := range loads {
		net := medianOf(rounds, b.net)
		floors := medianOf(rounds, func(i int) float64 { return o.floor[i] - b.floor[i] })
		delta := medianOf(rounds, func(i int) float64 { return o.gross[i] - b.gross[i] - floors })
		// A logarithm keeps the order, so it may follow the median.
		d.logs = append(d.logs, math.Log(max(minRatio, 1+delta/max(net, least))))
		d.deltas = append(d.deltas, delta)
		d.base = append(d.base, net)
		d.rounds += len(rounds)
	}
	d.left = len(b.load) - d.rounds
	return d, nil
}

// change tests and estimates the change from the loads' differences.
func (d *differences) change(confidence float64) Change {
	at, by := locate(d.logs, confidence), locate(d.deltas, confidence)
	c := Change{
		Base: median(d.base), Delta: by.center,
		Ratio: math.Exp(at.center), Confidence: confidence, P: signedRankP(d.logs),
		Paired: true, Loads: len(d.logs), Rounds: d.rounds,
	}
	if at.bounded {
		c.Low, c.High = math.Exp(at.low), math.Exp(at.high)
		c.By.Low, c.By.High = by.low, by.high
	} else {
		c.Warnings = append(c.Warnings, tooFew(c.Loads, confidence))
	}
	if d.left > 0 {
		c.Warnings = append(c.Warnings, fmt.Sprintf("the program did not run in %s, which were left out", unit.Plural(d.left, "round")))
	}
	if d.measure == bench.Latency.Name && c.Base < MinNet {
		c.Warnings = append(c.Warnings, fmt.Sprintf("the base costs less than %g ns: changes are given in ns, and the percentage of a threshold is applied to %g ns", MinNet, MinNet))
	}
	return c
}

func tooFew(loads int, confidence float64) string {
	return fmt.Sprintf("%d loads: at least %d are needed for an interval with %s confidence",
		loads, MinLoads(1-confidence), unit.Level(confidence))
}

// measureOf returns the measure as the result has it.
func measureOf(r *bench.Result, name string) bench.Measure {
	if s := r.Sample(name); s != nil {
		return s.Measure
	}
	for _, m := range []bench.Measure{bench.Latency, bench.LatencyRaw, bench.LatencyFloor, bench.Throughput} {
		if m.Name == name {
			return m
		}
	}
	return bench.Measure{Name: name, Direction: bench.LowerIsBetter}
}
