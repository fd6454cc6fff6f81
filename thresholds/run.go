package thresholds

import (
	"slices"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/stat"
)

// Mark adds to the results of runs the budgets that they exceed. A single run cannot show
// how much a measure grew: see Compare. For how it compares with earlier runs, see
// JudgeHistory.
func (p *Policy) Mark(runs ...*bench.Run) {
	for _, run := range runs {
		p.mark(run)
	}
}

func (p *Policy) mark(run *bench.Run) {
	for i := range run.Results {
		r := &run.Results[i]
		r.Alerts = nil
		for _, s := range r.Samples {
			if len(s.Values) == 0 {
				continue
			}
			v := stat.Summarize(s).Center
			for _, t := range p.budgets(subjectOf(r.Benchmark, s.Measure.Name, &run.Testbed)) {
				if limit, under, spent := t.spent(v); spent {
					r.Alerts = append(r.Alerts, bench.Alert{Measure: s.Measure.Name, Value: v, Limit: limit, Under: under, Severity: string(t.Severity)})
				}
			}
		}
	}
}

// Gap is a budget that could not be applied.
type Gap struct{ Benchmark, Measure, Why string }

// Unjudged returns the measures that have a budget in the policy and no values in the run:
// a gate that could not be applied has not been passed.
func (p *Policy) Unjudged(run *bench.Run) []Gap {
	var all []Gap
	for i := range run.Results {
		r := &run.Results[i]
		for _, measure := range p.unspent(r, &run.Testbed) {
			all = append(all, Gap{r.Benchmark, measure, notMeasured(run.Testbed.Mode, measure)})
		}
	}
	return all
}

// isMissed reports whether a measure without values should have been measured: it belongs
// to the mode, or to one that was requested and did not work.
func (p *Policy) isMissed(measure string, mode bench.Mode) bool {
	return mode == "" || mode.Measures(measure) || slices.ContainsFunc(p.asked, func(m bench.Mode) bool { return m.Measures(measure) })
}

// unspent returns the measures that have a budget and no value although their mode has
// one, once for each budget.
func (p *Policy) unspent(r *bench.Result, testbed *bench.Testbed) []string {
	var all []string
	if r == nil {
		return nil
	}
	for _, t := range slices.Concat(p.builtin, p.Thresholds) {
		if !t.hasBudget() || t.Severity == Ignore || !t.isFor(subjectOf(r.Benchmark, t.Measure, testbed)) || !bench.CanMeasure(r.Driver, t.Measure) {
			continue
		}
		if sample(r, t.Measure) == nil && p.isMissed(t.Measure, testbed.Mode) {
			all = append(all, t.Measure)
		}
	}
	return all
}
