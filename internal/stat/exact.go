package stat

import (
	"fmt"
	"slices"

	"github.com/aclements/go-moremath/mathx"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// CompareExact compares two samples of an exact measure: numbers that are equal
// or not, with no test, no interval and no noise. It fails if one of them is
// empty.
func CompareExact(base, head bench.Sample) (Change, error) {
	b, h := Summarize(base), Summarize(head)
	if b.N == 0 || h.N == 0 {
		return Change{}, fmt.Errorf("compare %s: a side has no value", head.Measure.Name)
	}
	c := Change{
		Measure: head.Measure, Base: b.Center, Head: h.Center, Delta: h.Center - b.Center,
		Confidence: 1, P: 1,
	}
	for _, s := range []Summary{b, h} {
		if w := s.belowFloor(head.Measure); w != "" {
			c.Warnings = append(c.Warnings, w)
		}
	}
	switch {
	case c.Base == c.Head:
		c.Ratio = 1
	case c.Base != 0:
		c.Ratio = c.Head / c.Base
	}
	c.Low, c.High = c.Ratio, c.Ratio
	return c, nil
}

// unlikely is how often chance may keep two sides apart for them to count as different.
const unlikely = 1.0 / 5000

// Apart reports whether all values of one side are above all of the other, and that would
// happen by chance in fewer than one of 5,000 cases: in 2 of all the ways to choose which
// values are those of the one side. It is the most extreme outcome of the rank sum test of
// Mann and Whitney (1947).
func Apart(a, b []float64) bool {
	if slices.Max(a) >= slices.Min(b) && slices.Max(b) >= slices.Min(a) {
		return false
	}
	return 2/mathx.Choose(len(a)+len(b), len(a)) < unlikely
}
