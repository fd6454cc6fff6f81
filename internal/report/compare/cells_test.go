package compare

import (
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/thresholds"
)

func TestDeltas(t *testing.T) {
	exact := func(base, head float64) string {
		v := counted("a", bench.Instructions, thresholds.Pass, thresholds.Fail, base, head, "")
		return delta(&v)
	}
	for want, got := range map[string]string{
		"=": exact(3594, 3594), "+1 (+0.03%)": exact(3594, 3595), "-1,000 (-50.0%)": exact(2000, 1000), "+3": exact(0, 3), "+0.2 (+200%)": exact(0.1, 0.3),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A row whose cost passed says so only if nothing else fails.
func TestRowNamesTheMeasureThatFails(t *testing.T) {
	timed := counted("a", bench.Latency, thresholds.Pass, thresholds.Fail, 100, 100, "")
	other := func(m bench.Measure, o thresholds.Outcome, s thresholds.Severity) *thresholds.Verdict {
		v := counted("a", m, o, s, 2, 5, "")
		return &v
	}
	insns := other(bench.BPFInsns, thresholds.Regression, thresholds.Fail)
	for want, others := range map[string][]*thresholds.Verdict{
		"pass":                   {other(bench.XlatedBytes, thresholds.Regression, thresholds.Warn)},
		"bpf-insns: regression":  {other(bench.XlatedBytes, thresholds.Regression, thresholds.Warn), insns},
		"2 measures: regression": {insns, other(bench.Allocs, thresholds.Regression, thresholds.Fail)},
		"bpf-insns: over budget": {other(bench.BPFInsns, thresholds.OverBudget, thresholds.Fail)},
	} {
		r := row{Pair: &bench.Pair{Base: &bench.Result{}, Head: &bench.Result{}}, main: &timed, others: others}
		cell := matrixCell(&r).Text(false)
		if got := r.verdictWord(); got != want || want == "pass" && cell != "0%" || want != "pass" && cell != "0% "+want {
			t.Errorf("%q and %q, want %q", got, cell, want)
		}
	}
}

// A measure of another tool can have any name.
func TestRowNamesAHostileMeasure(t *testing.T) {
	timed := counted("a", bench.Latency, thresholds.Pass, thresholds.Fail, 100, 100, "")
	other := counted("a", bench.Allocs, thresholds.Regression, thresholds.Fail, 2, 5, "")
	other.Measure.Name = hostile
	r := row{Pair: &bench.Pair{Base: &bench.Result{}, Head: &bench.Result{}}, main: &timed, others: []*thresholds.Verdict{&other}}
	if got := matrixCell(&r).Markdown(); strings.Contains(got, "|") || strings.Contains(got, "<script>") {
		t.Errorf("%q", got)
	}
}
