package thresholds

import (
	"fmt"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/stat"
)

// History bounds a value by those before it. The tests are those of Bencher:
// see stat.Detector.
type History struct {
	// Test is t_test where it is not given.
	Test stat.Detector `yaml:"test"`
	// Boundary is how far a value may be; what it means depends on the test.
	// For z_score, t_test and log_normal it is 0.98 where it is not given.
	Boundary *float64 `yaml:"boundary"`
	// Runs is how many of the latest values are looked at, 64 where it is not
	// given, MinRuns below how many nothing is said, 10.
	Runs    int `yaml:"runs"`
	MinRuns int `yaml:"min_runs"`
}

// fill puts in what is not given.
func (h *History) fill() {
	if h.Test == "" {
		h.Test = stat.TTest
	}
	if h.Boundary == nil && (h.Test == stat.TTest || h.Test == stat.ZScore || h.Test == stat.LogNormal) {
		b := 0.98
		h.Boundary = &b
	}
	if h.Runs == 0 {
		h.Runs = 64
	}
	if h.MinRuns == 0 {
		h.MinRuns = min(10, h.Runs)
	}
}

// tests are the names of all tests.
func tests() []string {
	var names []string
	for _, d := range stat.Detectors() {
		names = append(names, string(d))
	}
	return names
}

// history judges a value that has no base by the stored values before it. One
// value says nothing of its own noise, so what it finds is as good as the
// history is long and quiet.
func (j *judgement) history(v *Verdict, head *bench.Sample, s subject) {
	rule := j.historyRule(s)
	if rule == nil || j.History == nil {
		return
	}
	h := rule.History
	values := j.History(s.benchmark, s.measure)
	values = values[max(0, len(values)-h.Runs):]
	if len(values) == 0 && h.Test != stat.Static {
		return
	}
	v.Severity = rule.Severity
	if len(values) < h.MinRuns && h.Test != stat.Static {
		v.Outcome = Inconclusive
		v.Why = fmt.Sprintf("only %d earlier runs: %s needs at least %d", len(values), h.Test, h.MinRuns)
		return
	}
	limits, err := h.Test.Limits(values, *h.Boundary)
	if err != nil {
		v.Outcome, v.Why = Inconclusive, err.Error()
		return
	}
	value := stat.Summarize(*head).Center
	over, under := value > limits.Upper, value < limits.Lower
	bad, good := over, under
	if head.Measure.Direction == bench.HigherIsBetter {
		bad, good = under, over
	}
	v.Outcome = Pass
	switch {
	case bad, rule.Direction == Both && good:
		v.Outcome = Regression
	case good && h.Test != stat.Static:
		// Below a static limit is where values are meant to be.
		v.Outcome = Improvement
	}
	v.Why = historyEvidence(value, limits, h.Test, len(values), head.Measure)
}
