package thresholds

import (
	"math"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/stat"
)

// growth is a change in the direction that is worse for the measure: more nanoseconds and
// fewer packets per second are both positive.
type growth struct {
	// base and delta are in the measure's unit; share, low and high are shares of the
	// base.
	base, delta, share, low, high float64
}

func growthOf(c *stat.Change) growth {
	g := growth{c.Base, c.Delta, c.Ratio - 1, c.Low - 1, c.High - 1}
	if c.Measure.Direction == bench.HigherIsBetter {
		return g.mirrored()
	}
	return g
}

// growthFrom returns the growth from an earlier value, whichever direction is worse.
func growthFrom(base, value float64) growth {
	g := growth{base: base, delta: value - base}
	if base != 0 {
		g.share = g.delta / base
	}
	return g
}

// mirrored returns the same change in the opposite direction.
func (g growth) mirrored() growth {
	return growth{g.base, -g.delta, -g.share, -g.high, -g.low}
}

// beyond reports whether the growth exceeds both parts of the threshold.
func (g growth) beyond(t *Threshold) bool {
	return g.delta > value(t.Absolute) && g.share > value(t.Percent)/100
}

// limit returns the share of the base that the threshold allows.
func (g growth) limit(t *Threshold) float64 {
	base := max(math.Abs(g.base), stat.MinNet)
	return max(value(t.Percent)/100, value(t.Absolute)/base)
}

func value(v *float64) float64 {
	if v == nil {
		return 0
	}
	return *v
}
