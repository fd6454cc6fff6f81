package thresholds

import (
	"math"
	"time"
)

// Accept excuses a regression that somebody decided to live with, for a while.
type Accept struct {
	// Benchmark is a glob on benchmark names, * for all.
	Benchmark string `yaml:"benchmark"`
	Measure   string `yaml:"measure"`
	// UpTo is the largest growth that is excused.
	UpTo Amount `yaml:"up_to"`
	// Until is the last day on which it is excused.
	Until  Date   `yaml:"until"`
	Reason string `yaml:"reason"`
}

// excuse turns an accepted regression into one that does not fail, or says why it is not,
// or no longer, accepted, or not that far.
func (p *Policy) excuse(v *Verdict, g growth, now time.Time) {
	for _, a := range p.Accept {
		if v.Outcome != Regression || a.Measure != v.Measure.Name || !match(a.Benchmark, v.Benchmark) {
			continue
		}
		upTo := amount(a.UpTo, v.Measure)
		switch {
		case a.Until.Over(now):
			v.Why += ", accepted up to " + upTo + " only until " + a.Until.String()
		case g.within(a.UpTo):
			v.Outcome = Accepted
			v.Why += ", accepted up to " + upTo + " until " + a.Until.String() + ": " + a.Reason
		default:
			v.Why += ", more than the accepted " + upTo
		}
	}
}

// within reports whether a growth is at most an amount, in either direction.
func (g growth) within(a Amount) bool {
	if a.Relative {
		// A base of zero has no percentages.
		return g.base != 0 && math.Abs(g.share)*100 <= a.Value+roundOff
	}
	return math.Abs(g.delta) <= a.Value
}

// roundOff is the error of computing a percentage in binary fractions.
const roundOff = 1e-9
