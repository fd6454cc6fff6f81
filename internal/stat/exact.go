package stat

import (
	"fmt"

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
		Confidence: 1, P: 1, Warnings: append(b.Warnings, h.Warnings...),
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
