package thresholds

import (
	"math"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/stat"
)

// growth is a change seen from the side that is worse for the measure: more
// nanoseconds and fewer packets a second are both positive.
type growth struct {
	// base is in the measure's unit, and so is delta; share, low and high are
	// shares of the base.
	base, delta, share, low, high float64
}

func growthOf(c *stat.Change) growth {
	g := growth{c.Base, c.Delta, c.Ratio - 1, c.Low - 1, c.High - 1}
	if c.Measure.Direction == bench.HigherIsBetter {
		return g.mirrored()
	}
	return g
}

// growthFrom is that of a value from what it was, to either side.
func growthFrom(base, value float64) growth {
	g := growth{base: base, delta: value - base}
	if base != 0 {
		g.share = g.delta / base
	}
	return g
}

// mirrored is the same change seen from the other side.
func (g growth) mirrored() growth {
	return growth{g.base, -g.delta, -g.share, -g.high, -g.low}
}

// beyond reports whether the growth exceeds both parts of the threshold.
func (g growth) beyond(t *Threshold) bool {
	return g.delta > value(t.Absolute) && g.share > value(t.Percent)/100
}

// limit is the share of the base that the threshold allows.
func (g growth) limit(t *Threshold) float64 {
	base := max(abs(g.base), stat.MinNet)
	return max(value(t.Percent)/100, value(t.Absolute)/base)
}

func value(v *float64) float64 {
	if v == nil {
		return 0
	}
	return *v
}

func abs(v float64) float64 { return math.Abs(v) }
