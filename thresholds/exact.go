package thresholds

import (
	"fmt"
	"slices"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/stat"
)

// exact judges numbers without noise: a growth is allowed up to the larger of
// percent of the base and absolute. Counts of a base that differ from each other
// are no such numbers.
func (j *judgement) exact(v *Verdict, base, head, again *bench.Sample, rule *Threshold) {
	c, err := stat.CompareExact(*base, *head)
	if err != nil {
		v.Outcome, v.Why = Failed, err.Error()
		return
	}
	v.Change = &c
	g := growthOf(&c)
	v.Why = exactEvidence(&c)
	switch chance := again != nil && !slices.Equal(again.Values, base.Values); {
	case chance && (g.exceeds(rule) || g.mirrored().exceeds(rule)):
		v.Outcome = Inconclusive
		v.Why += fmt.Sprintf(", but the base itself also counted %s: chance has a say in what a run costs",
			figure(stat.Summarize(*again).Center, c.Measure))
	case g.exceeds(rule), rule.Direction == Both && g.mirrored().exceeds(rule):
		v.Outcome = Regression
		v.Why += ", " + allowance(rule, c.Measure)
		j.excuse(v, g, j.Now)
	case g.mirrored().exceeds(rule):
		v.Outcome = Improvement
	case c.Delta != 0:
		v.Why += ", " + allowance(rule, c.Measure)
	}
}

// exceeds tells whether an exact growth is more than is allowed. The
// percentage of the base is computed first, since that of an integer is exact.
func (g growth) exceeds(t *Threshold) bool {
	return g.delta > max(value(t.Percent)*abs(g.base)/100, value(t.Absolute))
}
