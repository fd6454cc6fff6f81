package stat

import (
	"math"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// Change is the change of one measure of one benchmark from base to head.
type Change struct {
	Measure bench.Measure
	// Base and Head are the medians of the loads' medians, or the values of an exact
	// measure, in the measure's unit. In a paired comparison, Head is Base and Delta.
	Base, Head float64
	// Delta is head minus base in the measure's unit. In a paired comparison, it is what
	// Ratio makes of Base, or if Base is near zero the estimate from the differences within
	// the rounds: both are closer to the truth than the difference of the two medians.
	Delta float64
	// Ratio is head over base; 1 means no change. It is 0 if the base of an
	// exact measure is 0.
	Ratio float64
	// Low and High are the ends of the interval that holds the ratio with
	// Confidence. Both are 0 if there is none: see Bounded.
	Low, High, Confidence float64
	// P is the two-sided p-value of the ratio being 1, before any correction
	// for other tests. It is 1 for an exact measure, which is not tested.
	P float64
	// Band is the noise of this benchmark: how far from 1 the ratio of the base
	// to a second load of itself is, as a share. It is valid only if Banded.
	Band   float64
	Banded bool
	// By has the interval and the band in the measure's unit, if they exist.
	By Span
	// Paired says that both sides were measured in the same rounds.
	Paired bool
	// Loads and Rounds are the numbers of loads and rounds that were compared.
	Loads, Rounds int
	// Warnings say what a reader must know to trust the figures.
	Warnings []string
}

// Span is the interval of a change, from Low to High, and the noise Band, all
// in the measure's unit.
type Span struct{ Low, High, Band float64 }

// NearZero reports whether the base costs too little for percentages to mean
// anything: less than the resolution, or than the uncertainty of the change or
// the noise.
func (c *Change) NearZero() bool {
	return !c.Measure.Exact && (c.Measure.Name == bench.Latency.Name && c.Base < MinNet ||
		c.Bounded() && max((c.High-c.Low)/2, c.Band, (c.By.High-c.By.Low)/2/math.Abs(c.Base)) > 1)
}

// Bounded reports whether there was enough evidence for an interval.
func (c *Change) Bounded() bool { return c.High > 0 }

// halfWidth returns half of the interval's width, on a logarithmic scale.
func (c *Change) halfWidth() float64 { return (math.Log(c.High) - math.Log(c.Low)) / 2 }
