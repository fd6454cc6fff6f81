package action

import (
	"slices"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/github"
	"github.com/org/ebpf-bench-action/internal/report/compare"
	"github.com/org/ebpf-bench-action/internal/report/grid"
	"github.com/org/ebpf-bench-action/thresholds"
)

// A benchmark regressed if one of its measures fails, whatever the others do, and improved
// if some did and none failed.
func TestWhatRegressedAndImproved(t *testing.T) {
	const fail, warn, ignore = thresholds.Fail, thresholds.Warn, thresholds.Ignore
	judged := func(benchmark string, outcome thresholds.Outcome, severity thresholds.Severity) thresholds.Verdict {
		return thresholds.Verdict{Benchmark: benchmark, Outcome: outcome, Severity: severity}
	}
	var f finding
	f.take(compare.New(
		compare.Table{Comparison: &bench.Comparison{}, Verdicts: &thresholds.Verdicts{All: []thresholds.Verdict{
			judged("fails first", thresholds.Regression, fail), judged("fails first", thresholds.Regression, warn),
			judged("fails last", thresholds.OverBudget, warn), judged("fails last", thresholds.OverBudget, fail),
			judged("warns", thresholds.Regression, warn), judged("ignored", thresholds.Regression, ignore),
			judged("both", thresholds.Improvement, fail), judged("both", thresholds.Regression, fail),
			judged("better", thresholds.Improvement, fail), judged("hardly better", thresholds.Improvement, warn),
		}}},
		compare.Table{Comparison: &bench.Comparison{}, Verdicts: &thresholds.Verdicts{All: []thresholds.Verdict{
			judged("other kernel", thresholds.Regression, fail), judged("fails first", thresholds.Pass, fail),
		}}},
	))
	if want := []string{"both", "fails first", "fails last", "other kernel"}; !slices.Equal(f.regressed, want) {
		t.Errorf("regressed: %q, want %q", f.regressed, want)
	}
	if want := []string{"better"}; !slices.Equal(f.improved, want) {
		t.Errorf("improved: %q, want %q", f.improved, want)
	}
}

// One that went and another that came may be one under a new name, which got slower.
func TestSwap(t *testing.T) {
	removed := func(severity thresholds.Severity) []thresholds.Verdict {
		return []thresholds.Verdict{{Benchmark: "old", Outcome: thresholds.Removed, Severity: severity}}
	}
	added := []bench.Pair{{Benchmark: "old", Base: &bench.Result{}}, {Benchmark: "new", Head: &bench.Result{}}}
	for _, c := range []struct {
		verdicts []thresholds.Verdict
		pairs    []bench.Pair
		want     bool
	}{
		{removed(thresholds.Warn), added, true},
		{removed(thresholds.Warn), added[:1], false},
		{removed(thresholds.Ignore), added, false}, // allowed
		{nil, added[1:], false},
	} {
		err := swap(compare.New(compare.Table{Comparison: &bench.Comparison{Pairs: c.pairs}, Verdicts: &thresholds.Verdicts{All: c.verdicts}}))
		if (err != nil) != c.want {
			t.Errorf("%+v, %+v: %v", c.verdicts, c.pairs, err)
		}
	}
}

func TestConclusion(t *testing.T) {
	for _, c := range []struct {
		finding finding
		failOn  string
		want    github.Conclusion
	}{
		{finding{verdict: foundPass}, "regression", github.Success},
		{finding{verdict: foundPass, alone: true}, "regression", github.Neutral},
		{finding{verdict: foundInconclusive}, "regression", github.Neutral},
		{finding{verdict: foundRegression, err: exit.Said(exit.Regression)}, "regression", github.Failed},
		{finding{verdict: foundRegression, err: exit.Said(exit.Regression)}, "never", github.Neutral},
		{finding{verdict: foundError, err: exit.Said(exit.NotMeasured)}, "never", github.Failed},
	} {
		for _, mark := range []string{grid.Passed, grid.Warned} {
			f, want := c.finding, c.want
			f.doc = &grid.Document{Title: grid.Heading{Mark: mark}}
			if mark == grid.Warned && want == github.Success {
				want = github.Neutral
			}
			p := &publisher{reporter: &reporter{step: &step{in: &inputs{failOn: c.failOn}}}, finding: &f}
			if got := p.conclusion(); got != want {
				t.Errorf("%+v, %v: %v, want %v", c.finding, mark, got, want)
			}
		}
	}
}
