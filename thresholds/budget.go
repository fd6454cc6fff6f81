package thresholds

import (
	"cmp"
	"math"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/stat"
)

// hasBudget reports whether the threshold bounds a value by itself.
func (t *Threshold) hasBudget() bool { return t.Max != nil || t.Min != nil }

// spent reports whether a value exceeds the budget, which limit it exceeds, and whether it
// is under that limit.
func (t *Threshold) spent(v float64) (limit float64, under, spent bool) {
	if t.Min != nil && v < *t.Min {
		return *t.Min, true, true
	}
	if t.Max != nil && v > *t.Max {
		return *t.Max, false, true
	}
	return 0, false, false
}

// LimitWords returns the words before the limit of an exceeded budget.
func LimitWords(under bool) string {
	if under {
		return "under the minimum of"
	}
	return "over the maximum of"
}

// spend judges the budgets: a value that exceeds one is over budget, however it compares
// with the base. A worse verdict stays: a regression that fails, and a doubt that fails if
// the budget only warns.
func spend(v *Verdict, p *bench.Pair, budgets []Threshold) {
	head := sample(p.Head, v.Measure.Name)
	if head == nil {
		return
	}
	value := stat.Summarize(*head).Center
	for _, b := range budgets {
		limit, under, spent := b.spent(value)
		if !spent {
			continue
		}
		if over := (Verdict{Outcome: OverBudget, Severity: b.Severity}); over.weight() > v.weight() {
			v.Outcome, v.Severity = over.Outcome, over.Severity
		}
		is, most := figure(value, head.Measure), figure(limit, head.Measure)
		v.Why = cmp.Or(v.Why, is) + ", " + LimitWords(under) + " " + most
		if is == most {
			v.Why += " by " + withUnit(trim(math.Abs(value-limit)), head.Measure)
		}
	}
}

// checkBudget returns what is wrong with a budget, and its key, if anything.
func (t *Threshold) checkBudget() (key, msg string) {
	m, known := bench.MeasureNamed(t.Measure)
	switch {
	case t.Max != nil && !finite(*t.Max):
		return "max", "max is not a number"
	case t.Min != nil && !finite(*t.Min):
		return "min", "min is not a number"
	case !known:
	case t.Max != nil && m.Direction == bench.HigherIsBetter:
		return "max", "more " + m.Name + " is better: its budget is a min"
	case t.Min != nil && m.Direction == bench.LowerIsBetter:
		return "min", "less " + m.Name + " is better: its budget is a max"
	}
	return "", ""
}
