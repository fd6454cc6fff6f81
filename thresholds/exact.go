package thresholds

import (
	"fmt"
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
// the base and absolute. If the counts of a side vary, chance may explain the difference.
func (j *judgement) exact(v *Verdict, base, head, again *bench.Sample, rule *Threshold) {
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
	chance := again != nil && !slices.Equal(again.Values, base.Values)
	changed := g.exceeds(rule) || g.mirrored().exceeds(rule)
	switch {
	case changed && (differ(base.Values) || differ(head.Values)):
		v.Outcome = Inconclusive
		v.Why += ", but counted several times it was not always the same: chance has a say in what a run does"
	case chance && changed:
		v.Outcome = Inconclusive
		v.Why += fmt.Sprintf(", but the base itself also counted %s: chance has a say in what a run costs",
			figure(stat.Summarize(*again).Center, c.Measure))
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
	return g.delta > max(value(t.Percent)*abs(g.base)/100, value(t.Absolute))
}
