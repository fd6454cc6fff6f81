package stat

import "math"

// Detection is what a verdict requires of a comparison.
type Detection struct {
	// Alpha is the p-value that the test must reach: after Holm's correction
	// over m tests, in the worst case α/m.
	Alpha float64
	// Threshold is the growth beyond which a change counts, as a share.
	Threshold float64
	// Power is the probability of catching the slowdown, such as 0.95.
	Power float64
	// Measurements is how many independent measurements must agree.
	Measurements int
}

// Detectable returns the smallest growth, as a share, that measurements like
// this one catch with the requested power. It returns false if there is none.
//
// The center of the interval spreads around the truth nearly normally, with a
// standard error s that the half-width h tells: h = t·s, with t the quantile of
// Student's distribution at the interval's confidence. To be caught the center
// must exceed the band by h, reach the quantile of Alpha, and exceed the
// threshold; so the growth must be the largest of
//
//	band + h + z·s·√(1 + 2(1-2/π) + 8t²/(2(K-1)))
//	t(Alpha)·s + z·s
//	threshold + z·s
//
// on a logarithmic scale, with z Student's quantile of the power of each
// measurement. (Cohen, Statistical Power Analysis, 2nd ed., 1988, section 2.2,
// has the second.) The root allows for a measurement whose band and half-width
// differ from those of this one: to the variance 1 of its center it adds that
// of the center of either band, 1-2/π of a half-normal value, and that of the
// half-widths, which are proportional to standard deviations estimated from K
// loads and so vary by 1/(2(K-1)) of their square. There are four, two per
// measurement, which share a base and, being ends of rank intervals, vary more:
// simulated machines require eight.
func (c *Change) Detectable(d Detection) (float64, bool) {
	if !c.detects(d) {
		return 0, false
	}
	return math.Expm1(c.detectable(d, math.Log1p(c.Band), c.halfWidth(), math.Log1p(d.Threshold))), true
}

// DetectableBy is like Detectable, but estimated in the measure's unit, because
// a share of next to nothing means nothing. The threshold is a share of at
// least MinNet.
func (c *Change) DetectableBy(d Detection) (float64, bool) {
	if !c.detects(d) {
		return 0, false
	}
	return c.detectable(d, c.By.Band, (c.By.High-c.By.Low)/2, d.Threshold*max(math.Abs(c.Base), MinNet)), true
}

func (c *Change) detects(d Detection) bool {
	return c.Bounded() && c.Loads >= 2 && c.Loads >= MinLoads(d.Alpha)
}

// detectable is Detectable on a scale on which changes add up; band, h (the
// half-width) and threshold are on that scale.
func (c *Change) detectable(d Detection, band, h, threshold float64) float64 {
	freedom := float64(c.Loads - 1)
	t := studentQuantile(freedom, (1+c.Confidence)/2)
	s := h / t
	margin := studentQuantile(freedom, math.Pow(d.Power, 1/float64(max(1, d.Measurements)))) * s
	others := math.Sqrt(1 + 2*(1-2/math.Pi) + 8*t*t/(2*freedom))
	return max(band+h+margin*others, studentQuantile(freedom, 1-d.Alpha/2)*s+margin, threshold+margin)
}
