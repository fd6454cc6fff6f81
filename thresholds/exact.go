package thresholds

import (
	"fmt"
	"math"
	"slices"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/stat"
)

// isCount reports whether a measure is judged as numbers without noise: it is exact, or it
// is what an operation allocates, which is a mean, and was the same each time.
func isCount(base, head *bench.Sample) bool {
	if head.Measure.Exact || head.Measure.Name != bench.HeapBytes.Name {
		return head.Measure.Exact
	}
	return min(len(base.Values), len(head.Values)) > 1 && !differ(base.Values) && !differ(head.Values)
}

// exact judges numbers without noise: a growth is allowed up to the larger of percent of
// the base and absolute. If the counts of a side vary, chance may explain the difference, or
// hide one.
func (j *judgement) exact(v *Verdict, base, head *bench.Sample, rule *Threshold) {
	b, h := *base, *head
	b.Measure.Exact, h.Measure.Exact = true, true
	c, err := stat.CompareExact(b, h)
	if err != nil {
		v.Outcome, v.Why = Failed, err.Error()
		return
	}
	v.Change = &c
	g := growthOf(&c)
	v.Why = exactEvidence(&c)
	changed := g.exceeds(rule) || g.mirrored().exceeds(rule)
	switch {
	case (differ(base.Values) || differ(head.Values)) && !stat.Apart(base.Values, head.Values):
		if changed && mayOverlook(base.Values, head.Values, rule, c.Measure) {
			v.Outcome = Inconclusive
		}
		v.Why += fmt.Sprintf(", which may be chance: the base alone counted %s to %s, the head %s to %s",
			digits(slices.Min(base.Values)), figure(slices.Max(base.Values), c.Measure),
			digits(slices.Min(head.Values)), figure(slices.Max(head.Values), c.Measure))
	case c.Head < 0 && c.Delta < 0 && isNet(c.Measure):
		v.Outcome = Inconclusive
		v.Why += ", below the floor: no program costs less than an empty one"
	case g.exceeds(rule), rule.bothWays(c.Measure) && g.mirrored().exceeds(rule):
		v.Outcome = Regression
		v.Why += ", " + allowance(rule, c.Measure)
		j.excuse(v, g, j.Now)
		rule.doubtDirection(v)
	case g.mirrored().exceeds(rule):
		v.Outcome = Improvement
	case g.delta > 0 && c.Measure.Direction != bench.UnknownDirection:
		v.Allowed = true
		v.Why += ": grew within the allowance of " + allowances(rule, c.Measure)
	case c.Delta != 0:
		v.Why += ", " + allowance(rule, c.Measure)
	}
}

// mostVaried and mostVariedCount are the most that a comparison of counts that vary may
// overlook where no growth is allowed, as a share of the base and as a number: the larger
// of the two.
const (
	mostVaried      = 0.01
	mostVariedCount = 1
)

// mayOverlook reports whether the counts of two sides, which vary and do not differ by more
// than chance, may hide a growth beyond the threshold, or, where none is allowed, one that
// matters.
func mayOverlook(base, head []float64, rule *Threshold, m bench.Measure) bool {
	grows, shrinks := slices.Max(head)-slices.Min(base), slices.Max(base)-slices.Min(head)
	worst := grows
	switch {
	case rule.bothWays(m):
		worst = max(grows, shrinks)
	case m.Direction == bench.HigherIsBetter:
		worst = shrinks
	}
	of := math.Abs(slices.Min(base))
	limit := max(value(rule.Percent)*of/100, value(rule.Absolute))
	if limit == 0 {
		limit = max(mostVaried*of, mostVariedCount)
	}
	return worst > limit
}

// differ reports whether the values are not all equal.
func differ(values []float64) bool { return slices.Min(values) != slices.Max(values) }

// isNet reports whether a measure has the cost of an empty program subtracted. The cost of
// a whole path may well be negative: a program can save the kernel work.
func isNet(m bench.Measure) bool {
	return m.Name == bench.Instructions.Name || m.Name == bench.Latency.Name
}

// exceeds reports whether an exact growth is more than is allowed. It multiplies before it
// divides, because the percentage of an integer is then exact.
func (g growth) exceeds(t *Threshold) bool {
	return g.delta > max(value(t.Percent)*math.Abs(g.base)/100, value(t.Absolute))
}
