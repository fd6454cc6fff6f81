package stat

import "math"

// Detection is what a verdict requires of a comparison: of all its loads
// together, that the change reaches the test's α and the threshold, and that
// its interval is clear of the noise; of each of two measurements, that it
// agrees.
type Detection struct {
	// Alpha is the p-value that the test must reach: after Holm's correction
	// over m tests, in the worst case α/m.
	Alpha float64
	// Threshold is the growth beyond which a change counts, as a share.
	Threshold float64
	// Power is the probability of catching the slowdown, such as 0.95.
	Power float64
	// Again says that a second measurement of as many loads is still to come.
	Again bool
}

// AgreeP is the largest p-value at which one of two measurements agrees with a
// change, if it has the same direction. It is as weak as that because the test
// of all loads makes the decision.
const AgreeP = 0.1

// Agrees reports whether one of two measurements shows the same change as all
// loads together.
func (c *Change) Agrees(all *Change) bool {
	return c.P <= AgreeP && (c.Ratio > 1) == (all.Ratio > 1)
}

// Detectable returns the smallest growth, as a share, that comparisons like
// this one catch with the requested power. It returns false if there is none.
//
// The center of the interval of all K loads spreads around the truth nearly
// normally, with a standard error s that the half-width h tells: h = t·s, with
// t the quantile of Student's distribution at the interval's confidence. If the
// loads of a second measurement are yet to come, s is that of 2K loads, smaller
// by √2. To be caught the center c must exceed the noise |a| by h, reach the
// quantile of Alpha, exceed the threshold, and do so in direction in both
// halves of the loads; so the growth must be the largest of
//
//	h + z·s·√(3 + 4t²/(K-1))
//	t(Alpha)·s + z·s
//	threshold + z·s
//	√2·s·(t(AgreeP) + z(√power))
//
// on a logarithmic scale, with z Student's quantile of the power. (Cohen,
// Statistical Power Analysis, 2nd ed., 1988, section 2.2, has the second.) In
// the first, c > h + |a| means that c - a and c + a exceed h; c and a share the
// base, so the variance of their sum is 3s², and that of their difference s²,
// which excludes next to nothing in addition. The rest under the root allows
// for the half-widths of this comparison and of the next, which are
// proportional to standard deviations estimated from K loads and so vary by
// 1/(2(K-1)) of their square each; being ends of rank intervals they vary more,
// and simulated machines require four times as much.
func (c *Change) Detectable(d Detection) (float64, bool) {
	if !c.detects(d) {
		return 0, false
	}
	return math.Expm1(c.detectable(d, c.halfWidth(), math.Log1p(d.Threshold))), true
}

// DetectableBy is like Detectable, but estimated in the measure's unit, because
// a share of next to nothing means nothing. The threshold is a share of at
// least MinNet.
func (c *Change) DetectableBy(d Detection) (float64, bool) {
	if !c.detects(d) {
		return 0, false
	}
	return c.detectable(d, (c.By.High-c.By.Low)/2, d.Threshold*max(math.Abs(c.Base), MinNet)), true
}

func (c *Change) detects(d Detection) bool {
	return c.Bounded() && c.Loads >= 2 && d.loads(c) >= MinLoads(d.Alpha)
}

// loads returns the number of loads that decide.
func (d Detection) loads(c *Change) int {
	if d.Again {
		return 2 * c.Loads
	}
	return c.Loads
}

// detectable is Detectable on a scale on which changes add up; h (the
// half-width of this comparison) and threshold are on that scale.
func (c *Change) detectable(d Detection, h, threshold float64) float64 {
	s := h / studentQuantile(float64(c.Loads-1), (1+c.Confidence)/2)
	freedom := float64(d.loads(c) - 1)
	if d.Again {
		s /= math.Sqrt2
	}
	t, z := studentQuantile(freedom, (1+c.Confidence)/2), studentQuantile(freedom, d.Power)
	return max(threshold+s*z, s*max(
		t+z*math.Sqrt(3+4*t*t/float64(c.Loads-1)),
		studentQuantile(freedom, 1-d.Alpha/2)+z,
		math.Sqrt2*(studentQuantile(freedom/2, 1-AgreeP/2)+studentQuantile(freedom/2, math.Sqrt(d.Power))),
	))
}
