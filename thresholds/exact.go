package thresholds

import (
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/stat"
)

// exact judges numbers without noise: a growth is allowed up to the larger of
// percent of the base and absolute.
func (j *judgement) exact(v *Verdict, base, head *bench.Sample, rule *Threshold) {
	c, err := stat.CompareExact(*base, *head)
	if err != nil {
		v.Outcome, v.Why = Failed, err.Error()
		return
	}
	v.Change = &c
	g := growthOf(&c)
	v.Why = exactEvidence(&c)
	switch {
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
