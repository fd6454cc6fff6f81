package action

import (
	"slices"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/report/compare"
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
