package stat

import (
	"math"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// Change is what became of one measure of one benchmark from base to head.
type Change struct {
	Measure bench.Measure
	// Base and Head are the medians of the loads' medians, or the values of an
	// exact measure, in the measure's unit.
	Base, Head float64
	// Delta is head less base in the measure's unit. Of a paired comparison it
	// is estimated from the differences inside the rounds, so it is closer to
	// the truth than the difference of the two medians.
	Delta float64
	// Ratio is head over base, 1 for no change. It is 0 where the base of an
	// exact measure is 0.
	Ratio float64
	// Low and High are the ends of the interval that holds the ratio with
	// Confidence. Both are 0 where there is none: see Bounded.
	Low, High, Confidence float64
	// P is the two-sided p-value of the ratio being 1, before any correction
	// for other tests; 1 of an exact measure, which is not tested.
	P float64
	// Band is the noise of this benchmark: how far from 1 the interval of the
	// base against itself reaches, as a share. It holds where Banded.
	Band   float64
	Banded bool
	// By is the interval and the band in the measure's unit, where there are such.
	By Span
	// Paired says that both sides were measured in the same rounds.
	Paired bool
	// Loads and Rounds are the number of both that were compared.
	Loads, Rounds int
	// Warnings are what a reader must know to trust the figures.
	Warnings []string
}

// Span is what a change may be, in the measure's unit: between Low and High, and Band
// if it is noise.
type Span struct{ Low, High, Band float64 }

// NearZero reports whether the base costs too little for percentages to say anything:
// less than can be resolved, or than what the change or the noise may be.
func (c *Change) NearZero() bool {
	return !c.Measure.Exact && (c.Measure.Name == bench.Latency.Name && c.Base < MinNet ||
		c.Bounded() && max((c.High-c.Low)/2, c.Band, (c.By.High-c.By.Low)/2/math.Abs(c.Base)) > 1)
}

// Bounded reports whether there was enough evidence for an interval.
func (c *Change) Bounded() bool { return c.High > 0 }

// halfWidth is half of the interval's width, on the scale of logarithms.
func (c *Change) halfWidth() float64 { return (math.Log(c.High) - math.Log(c.Low)) / 2 }
