package stat

import (
	"fmt"
	"math"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// Target is the goal of a planned comparison.
type Target struct {
	// Effect is the growth to catch, as a share: 0.01 for 1%.
	Effect float64
	// Confidence is that of the intervals, such as 0.99.
	Confidence float64
	// Alpha is the p-value that all loads must reach, after a correction for Tests.
	Alpha float64
	Tests int
	// Power is the probability of catching the effect, such as 0.95.
	Power float64
	// Max is the number of loads that there is time for.
	Max int
}

// Plan is how many loads a comparison needs.
type Plan struct {
	// Loads is how many to measure, between Min and the target's Max, before they
	// are measured again.
	Loads int
	// Min is the number below which a measurement has nothing to say at the
	// target's Confidence.
	Min int
	// Wanted is how many would be needed if there were time.
	Wanted int
}

// PlanLoads plans from a pilot how many loads a comparison needs. It looks only
// at the base against itself and never at the head: a number of loads that
// depended on the difference to be tested would invalidate the test.
//
// The loads' standard deviation σ is taken at the upper end of its one-sided
// 80% interval, since that of a small pilot is as often too small as too large
// (Browne, On the Use of a Pilot Sample for Sample Size Determination,
// Statistics in Medicine 14, 1995). With s = σ/√(2K·3/π), where 2K are the
// loads of two measurements and 3/π is the efficiency of the Hodges–Lehmann
// estimate for normal values (Hollander, Wolfe, Chicken, section 3.11), K is
// the smallest number for which
//
//	s·(t + √3·z) ≤ effect    s·(t(α/m) + z) ≤ effect
//
// hold on a logarithmic scale: the interval of half-width t·s must be clear of
// the noise, and the test must reach its α, both with the power whose normal
// quantile is z, as in Change.Detectable.
//
// It fails if the pilot has fewer than two loads.
func PlanLoads(pilot *bench.Pair, measure string, t Target) (Plan, error) {
	if pilot.Base == nil || pilot.Again == nil {
		return Plan{}, fmt.Errorf("plan %s: the pilot did not measure the base twice", pilot.Benchmark)
	}
	d, err := paired(pilot.Base, pilot.Again, measure)
	if err != nil {
		return Plan{}, fmt.Errorf("plan %s: %w", pilot.Benchmark, err)
	}
	if len(d.logs) < 2 {
		return Plan{}, fmt.Errorf("plan %s: a pilot of one load shows no spread", pilot.Benchmark)
	}
	tests := float64(max(1, t.Tests))
	p := Plan{Min: MinLoads((1 - t.Confidence) / tests)}
	p.Wanted = p.Min
	sigma := upperDeviation(d.logs)
	for !enough(p.Wanted, sigma, t.Alpha/tests, t) && p.Wanted < maxWanted {
		p.Wanted++
	}
	p.Loads = p.Wanted
	if t.Max > 0 {
		p.Loads = min(p.Loads, t.Max)
	}
	return p, nil
}

// maxWanted bounds the search for a number of loads that nobody has time for.
const maxWanted = 2000

func enough(loads int, sigma, alpha float64, t Target) bool {
	freedom := float64(2*loads - 1)
	s := sigma / math.Sqrt(float64(2*loads)*3/math.Pi)
	z := normalQuantile(t.Power)
	clear := studentQuantile(freedom, (1+t.Confidence)/2) + math.Sqrt(3)*z
	reach := studentQuantile(freedom, 1-alpha/2) + z
	return s*max(clear, reach) <= math.Log1p(t.Effect)
}

// upperDeviation returns the upper end of the one-sided 80% interval of the
// standard deviation of normal values, with the chi-squared quantile by the
// approximation of Wilson and Hilferty (The Distribution of Chi-square, PNAS
// 17, 1931).
func upperDeviation(values []float64) float64 {
	mean, freedom := sum(values)/float64(len(values)), float64(len(values)-1)
	squares := 0.0
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	k := 2 / (9 * freedom)
	chi := freedom * math.Pow(1-k+normalQuantile(0.2)*math.Sqrt(k), 3)
	return math.Sqrt(squares / chi)
}
