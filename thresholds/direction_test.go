package thresholds

import (
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// A change in an unknown direction is never called a regression or an improvement.
func TestUnknownDirection(t *testing.T) {
	for _, c := range []struct {
		direction  bench.Direction
		rule       string
		base, head float64
		want       Outcome
	}{
		{bench.UnknownDirection, "percent: 5", 100, 120, Inconclusive},
		{bench.UnknownDirection, "percent: 5", 100, 80, Inconclusive},
		{bench.UnknownDirection, "percent: 5", 100, 104, Pass},
		{bench.UnknownDirection, "percent: 5, direction: both", 100, 80, Regression},
		{bench.UnknownDirection, "min: 90", 100, 80, OverBudget},
		{bench.UnknownDirection, "history: {test: static, boundary: 110}", 100, 120, Inconclusive},
		{bench.HigherIsBetter, "percent: 5", 100, 120, Improvement},
		{bench.HigherIsBetter, "percent: 5", 100, 80, Regression},
		{bench.LowerIsBetter, "percent: 5", 100, 120, Regression},
	} {
		for _, exact := range []bool{true, false} {
			m := bench.Measure{Name: "records/op", Unit: "records/op", Direction: c.direction, Exact: exact}
			pair := measured(m, "a", c.base, c.head)
			for _, s := range []*bench.Sample{&pair.Base.Samples[0], &pair.Head.Samples[0]} {
				for i := range 20 {
					s.Values = append(s.Values, s.Values[0]*(1+float64(i)*1e-4))
				}
				if exact {
					s.Values = s.Values[:1]
				}
			}
			pair.Base.Driver, pair.Head.Driver = bench.DriverGo, bench.DriverGo
			compared := comparison(pair)
			compared.BaseTestbed = &compared.Testbed
			v := only(t, policy(t, "thresholds: [{measure: records/op, "+c.rule+"}]\n").Compare(compared, Options{}))
			if v.Outcome != c.want || v.Allowed || (v.Outcome == Inconclusive) != strings.Contains(v.Why, "which way is better") {
				t.Errorf("%+v: %s, %s", c, v.Outcome, v.Why)
			}
		}
	}
}
