package thresholds

import (
	"fmt"
	"iter"
	"slices"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/stat"
)

// History bounds a value by earlier ones. The tests are those of Bencher: see
// stat.Detector.
type History struct {
	// Test is t_test by default.
	Test stat.Detector `yaml:"test"`
	// Boundary is how far a value may be; its meaning depends on the test. For z_score,
	// t_test and log_normal it is 0.98 by default.
	Boundary *float64 `yaml:"boundary"`
	// Runs is how many of the latest values are used, by default 64. With fewer than
	// MinRuns, by default 10, there is no verdict.
	Runs    int `yaml:"runs"`
	MinRuns int `yaml:"min_runs"`
}

// fill sets the defaults.
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

// tests returns the names of all tests.
func tests() []string {
	var names []string
	for _, d := range stat.Detectors() {
		names = append(names, string(d))
	}
	return names
}

// Historic yields the benchmarks and measures of a run that are judged by earlier values.
func (p *Policy) Historic(run *bench.Run) iter.Seq2[string, string] {
	return func(yield func(benchmark, measure string) bool) {
		for i := range run.Results {
			r := &run.Results[i]
			for j := range r.Samples {
				s := subjectOf(r.Benchmark, r.Samples[j].Measure.Name, &run.Testbed)
				rule := p.historyRule(s)
				if rule == nil || rule.History.Test == stat.Static || len(r.Samples[j].Values) == 0 {
					continue
				}
				if !yield(s.benchmark, s.measure) {
					return
				}
			}
		}
	}
}

// JudgeHistory judges the values of a run by earlier ones. It returns one verdict for each
// measure of each benchmark that has a threshold with a history.
func (p *Policy) JudgeHistory(run *bench.Run, o Options) []Verdict {
	var all []Verdict
	for i := range run.Results {
		r := &run.Results[i]
		for j := range r.Samples {
			head := &r.Samples[j]
			s := subjectOf(r.Benchmark, head.Measure.Name, &run.Testbed)
			if rule := p.historyRule(s); rule != nil && len(head.Values) > 0 {
				all = append(all, p.among(s, head, rule, &o))
			}
		}
	}
	return all
}

// history judges a value by earlier ones, beside the verdict by its base: the worse one
// counts. If there is no comparison with a base, history decides.
func (j *judgement) history(v *Verdict, p *bench.Pair, s subject) {
	rule, head := j.historyRule(s), sample(p.Head, s.measure)
	if rule == nil || head == nil {
		return
	}
	h := j.among(s, head, rule, &j.Options)
	if v.Change == nil && (v.Outcome == Added || v.Outcome == Pass) {
		*v = h
		return
	}
	if h.weight() > v.weight() {
		v.Outcome, v.Severity = h.Outcome, h.Severity
	}
	v.Why += "; " + h.Why
}

// among judges a value among earlier ones. One value does not show its own noise, so the
// verdict is only as good as the history is long and quiet.
func (p *Policy) among(s subject, head *bench.Sample, rule *Threshold, o *Options) Verdict {
	v := Verdict{Benchmark: s.benchmark, Measure: head.Measure, Outcome: Pass, Severity: rule.Severity}
	h := rule.History
	var values []float64
	if o.History != nil && h.Test != stat.Static {
		values = o.History(s.benchmark, s.measure)
		values = values[max(0, len(values)-h.Runs):]
	}
	if len(values) < h.MinRuns && h.Test != stat.Static {
		v.Outcome, v.Why = Inconclusive, tooFew(len(values), h)
		return v
	}
	limits, err := h.limits(values, head.Measure.Exact)
	if err != nil {
		v.Outcome, v.Why = Inconclusive, fmt.Sprintf("%s over %d runs: %s", h.Test, len(values), err)
		return v
	}
	value := stat.Summarize(*head).Center
	v.Why = historyEvidence(value, limits, h.Test, len(values), head.Measure)
	over, under := value > limits.Upper, value < limits.Lower
	bad, good := over, under
	if head.Measure.Direction == bench.HigherIsBetter {
		bad, good = under, over
	}
	switch {
	case bad, rule.bothWays(head.Measure) && good:
		v.Outcome = Regression
		p.excuse(&v, growthFrom(limits.Baseline, value), o.now())
		rule.doubtDirection(&v)
	case good && h.Test != stat.Static:
		// Below a static limit is where values are supposed to be.
		v.Outcome = Improvement
	}
	return v
}

// limits returns the limits that the earlier values set. A count that was the same each
// time is its own limit: it does not vary, so any difference is a change.
func (h *History) limits(values []float64, exact bool) (stat.Limits, error) {
	if exact && h.Test != stat.Static && h.Test != stat.Percentage && slices.Min(values) == slices.Max(values) {
		return stat.Limits{Baseline: values[0], Lower: values[0], Upper: values[0]}, nil
	}
	return h.Test.Limits(values, *h.Boundary)
}
