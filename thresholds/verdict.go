package thresholds

import (
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/stat"
)

// Outcome is the finding on one measure of one benchmark.
type Outcome string

// The outcomes.
const (
	Pass        Outcome = "pass"
	Improvement Outcome = "improvement"
	Regression  Outcome = "regression"
	// OverBudget is a value above its max, or below its min, whatever the base's value.
	OverBudget Outcome = "over-budget"
	// Inconclusive is evidence that is too weak, or contradicts itself.
	Inconclusive Outcome = "inconclusive"
	// Accepted is a regression that the policy excuses.
	Accepted Outcome = "accepted"
	// Added and Removed are benchmarks that only one side has. The policy says how severe
	// it is that one is removed; severity Ignore allows it.
	Added   Outcome = "added"
	Removed Outcome = "removed"
	// Failed means that a required value was not measured.
	Failed Outcome = "failed"
)

// Verdict is the outcome for one measure of one benchmark, with its evidence.
type Verdict struct {
	Benchmark string
	// Measure is the zero Measure if the benchmark as a whole failed.
	Measure  bench.Measure
	Outcome  Outcome
	Severity Severity
	// Allowed says that the measure passed although it got worse, within its limit.
	Allowed bool
	// Identical says that it passed because both sides are the same.
	Identical bool
	// Change is the measured change, Second that of the confirming measurement. They are
	// nil if nothing was compared.
	Change, Second *stat.Change
	// P is the p-value after Holm's correction over Tests tests. Both are 0 if there was
	// no test.
	P     float64
	Tests int
	// Detectable is the smallest growth, as a share, that this comparison would have
	// caught with a probability of Power. It is 0 if unknown, and if nothing would have
	// been caught.
	Detectable float64
	// DetectableBy is the same in the measure's unit, for programs that cost next to
	// nothing.
	DetectableBy float64
	// Why is the evidence in one clause.
	Why string
}

// weight orders verdicts on the same thing: the worse one has the larger weight.
func (v *Verdict) weight() int {
	if v.Severity == Ignore {
		return -1
	}
	w := map[Outcome]int{Pass: 1, Improvement: 1, Accepted: 2, Inconclusive: 3, OverBudget: 4, Regression: 4, Failed: 5}[v.Outcome]
	if w > 2 && v.Severity == Fail {
		w += 3
	}
	return w
}

// Power is the probability of catching a slowdown of Verdict.Detectable.
const Power = 0.95

// Verdicts are all verdicts of a comparison.
type Verdicts struct {
	// All is in the order of the benchmarks and of their measures.
	All []Verdict
	// Strict makes inconclusive evidence fail.
	Strict bool
	// Partial says that the comparison, or its judging, ended early.
	Partial bool
	// Disjoint says that no benchmark is on both sides, so nothing was compared.
	Disjoint bool
	// Empty says that there was nothing to compare, as in a shard without benchmarks.
	Empty bool
}

// Overall returns the outcome of the whole comparison: Regression if any verdict is one,
// else OverBudget if any is, else Removed if any is, else Failed if something was not measured, or nothing was
// judged or compared although it should have been, else Inconclusive if any is and Strict
// is set, else Pass. Only verdicts with the severity Fail count.
func (v *Verdicts) Overall() Outcome {
	found := map[Outcome]bool{Failed: v.Partial || v.Disjoint || len(v.All) == 0 && !v.Empty}
	for i := range v.All {
		if v.All[i].Severity == Fail {
			found[v.All[i].Outcome] = true
		}
	}
	switch {
	case found[Regression]:
		return Regression
	case found[OverBudget]:
		return OverBudget
	case found[Removed]:
		return Removed
	case found[Failed]:
		return Failed
	case found[Inconclusive] && v.Strict:
		return Inconclusive
	}
	return Pass
}
