package stat

import (
	"fmt"
	"math"

	"github.com/aclements/go-moremath/stats"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// CompareStored compares a timed measure of two results that were measured one
// after the other on the same testbed, with an interval at a confidence such as
// 0.99. The value of a load is the median of its rounds.
//
// The test is that of Mann and Whitney, exact up to 50 loads without ties and
// up to 12 with them, otherwise by the normal approximation. The shift is the
// estimate of Hodges and Lehmann, the median of the differences of all pairs of
// one load from each side, and its interval inverts the test (Hollander, Wolfe,
// Chicken, Nonparametric Statistical Methods, 3rd ed., sections 4.1 to 4.3).
// The difference includes whatever changed on the machine between the two runs,
// and no noise band shows how much: the change has a warning about it.
//
// It fails if one of the results has no value, or the base is not positive.
func CompareStored(base, head *bench.Result, measure string, confidence float64) (Change, error) {
	b, baseRounds, err := loadMedians(base, measure)
	if err != nil {
		return Change{}, err
	}
	h, headRounds, err := loadMedians(head, measure)
	if err != nil {
		return Change{}, err
	}
	c := Change{
		Measure: measureOf(head, measure), Base: median(b), Head: median(h), Confidence: confidence, P: 1,
		Loads: min(len(b), len(h)), Rounds: min(baseRounds, headRounds),
		Warnings: []string{"base and head were not measured side by side: no noise band"},
	}
	over := c.Base
	if measure == bench.Latency.Name {
		over = max(over, MinNet)
	}
	if over <= 0 {
		return Change{}, fmt.Errorf("compare stored %s: the base is %g", measure, c.Base)
	}
	// The only error is that all values are equal, which is not a difference.
	if r, err := stats.MannWhitneyUTest(b, h, stats.LocationDiffers); err == nil {
		c.P = min(1, r.P)
	}
	all := shifts(b, h)
	at := all.bounds(rankSumCritical(len(b), len(h), (1-confidence)/2))
	c.Delta, c.Ratio = at.center, max(minRatio, 1+at.center/over)
	if at.bounded {
		c.Low, c.High = max(minRatio, 1+at.low/over), max(minRatio, 1+at.high/over)
		c.By.Low, c.By.High = at.low, at.high
	} else {
		c.Warnings = append(c.Warnings, fmt.Sprintf("%d and %d %s are too few for an interval with %s confidence", len(b), len(h), head.Repeats(), unit.Level(confidence)))
	}
	return c, nil
}

// LoadMedians returns the medians of a timed measure over the rounds of each
// load, or the values of a result that has no rounds. It fails if there are
// none.
func LoadMedians(r *bench.Result, measure string) ([]float64, error) {
	medians, _, err := loadMedians(r, measure)
	return medians, err
}

// loadMedians returns the median of the rounds of each load, and the number of
// rounds.
func loadMedians(r *bench.Result, measure string) ([]float64, int, error) {
	s, err := roundsOf(r, measure)
	if err != nil {
		return nil, 0, fmt.Errorf("compare stored %s: %w", measure, err)
	}
	loads, err := byLoad(&s)
	if err != nil {
		return nil, 0, fmt.Errorf("compare stored %s of %s: %w", measure, r.Benchmark, err)
	}
	var medians []float64
	n := 0
	for _, rounds := range loads {
		medians = append(medians, medianOf(rounds, s.net))
		n += len(rounds)
	}
	return medians, n, nil
}

// A test of ties costs tens of milliseconds for 25 loads, and a result file can
// hold a hundred thousand. Beyond a dozen loads, use the normal approximation,
// which is corrected for ties, too.
func init() { stats.MannWhitneyTiesExactLimit = 12 }

// rankSumCritical returns the largest c such that U is below c with a
// probability of at most tail, or 0 if there is none. Above 50 values, it uses
// the normal approximation (Hollander, Wolfe, Chicken, (4.36)).
func rankSumCritical(n1, n2 int, tail float64) int {
	if max(n1, n2) > stats.MannWhitneyExactLimit {
		mean, size := float64(n1)*float64(n2)/2, float64(n1)*float64(n2)*float64(n1+n2+1)/12
		return max(0, int(mean+normalQuantile(tail)*math.Sqrt(size)))
	}
	return criticalRankSums.of(rankSum{n1, n2, tail}, func() int { return exactRankSumCritical(n1, n2, tail) })
}

// rankSum identifies a critical value.
type rankSum struct {
	n1, n2 int
	tail   float64
}

var criticalRankSums memo[rankSum, int]

func exactRankSumCritical(n1, n2 int, tail float64) int {
	u := stats.UDist{N1: n1, N2: n2}
	low, high := 0, n1*n2/2
	for low < high {
		if c := (low + high + 1) / 2; u.CDF(float64(c-1)) <= tail {
			low = c
		} else {
			high = c - 1
		}
	}
	return low
}
