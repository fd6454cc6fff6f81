package thresholds

import (
	"cmp"
	"slices"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/stat"
)

// Options are the parameters of judging a comparison, beside the policy.
type Options struct {
	// Strict makes inconclusive evidence fail.
	Strict bool
	// Now decides which acceptances have ended; the zero time is the present.
	Now time.Time
	// History returns the earlier stored values of a measure of a benchmark on the same
	// testbed, oldest first. Nil means none.
	History func(benchmark, measure string) []float64
	// Ended stops the judging early once it returns true; nil means never.
	Ended func() bool
}

func (o *Options) ended() bool { return o.Ended != nil && o.Ended() }

func (o *Options) now() time.Time {
	if o.Now.IsZero() {
		return time.Now()
	}
	return o.Now
}

// judgement is the state shared by all verdicts on one comparison.
type judgement struct {
	*Policy
	Options
	comparison *bench.Comparison
	tests      suite
	// headless says that the head was not measured on this kernel at all, disjoint that it
	// was and has no benchmark in common with the base.
	headless, disjoint bool
	// added are the benchmarks that only the head has.
	added []string
}

// Compare judges a comparison. It returns one verdict for each measure of each benchmark
// that a threshold covers.
func (p *Policy) Compare(c *bench.Comparison, o Options) *Verdicts {
	o.Now = o.now()
	j := &judgement{Policy: p, Options: o, comparison: c, tests: p.test(c, o)}
	j.common()
	v := &Verdicts{Strict: o.Strict, Partial: c.Partial || len(c.MissingKernels) > 0, Disjoint: j.disjoint}
	for i := range c.Pairs {
		if o.ended() {
			v.Partial = true
			break
		}
		v.All = append(v.All, j.benchmark(&c.Pairs[i])...)
	}
	return v
}

// Flagged returns the benchmarks that look slower or faster in the first measurement, or
// that a second one of the same size may decide, and so must be measured again, for
// Confirmed.
func (p *Policy) Flagged(c *bench.Comparison) []string {
	var names []string
	for _, t := range p.test(c, Options{}).tests {
		if t.undecided() && !slices.Contains(names, t.pair.Benchmark) {
			names = append(names, t.pair.Benchmark)
		}
	}
	return names
}

// benchmark judges all measures of one benchmark.
func (j *judgement) benchmark(p *bench.Pair) []Verdict {
	whole := func(o Outcome, why string) []Verdict {
		return []Verdict{{Benchmark: p.Benchmark, Outcome: o, Severity: Fail, Why: why}}
	}
	gone := func() []Verdict {
		v := Verdict{Benchmark: p.Benchmark, Severity: Fail}
		j.removed(&v, p)
		return []Verdict{v}
	}
	if p.Head != nil && p.Head.Error != "" {
		return whole(Failed, "not measured on the head: "+p.Head.Error)
	}
	measures := j.measures(p)
	switch {
	case len(measures) > 0:
	case p.Head == nil:
		return gone()
	default:
		return whole(Failed, "nothing was measured")
	}
	var all []Verdict
	for _, m := range measures {
		s := subjectOf(p.Benchmark, m.Name, &j.comparison.Testbed)
		rule, budgets := j.rule(s), j.budgets(s)
		if rule == nil && j.historyRule(s) == nil && len(budgets) == 0 {
			continue
		}
		v := Verdict{Benchmark: p.Benchmark, Measure: m, Outcome: Pass, Severity: severity(rule, budgets)}
		j.measure(&v, p, s, rule)
		if m.Name == bench.BPFInsns.Name && j.isBuiltin(rule) && len(budgets) == 0 && saysNoMore(&v, all, p) {
			v.Severity = Ignore
		}
		j.doubtLikeness(&v, p)
		if v.Outcome == Failed && slices.ContainsFunc(budgets, Threshold.fails) {
			// The budget could not be applied either.
			v.Severity = Fail
		}
		j.history(&v, p, s)
		spend(&v, p, budgets)
		all = append(all, v)
	}
	if len(all) == 0 && p.Head == nil {
		return gone()
	}
	return all
}

// saysNoMore reports whether the verdict on the machine instructions of a run, if it is
// among all, says what v says of its BPF instructions. Fewer runs are counted in machine
// instructions: where runs are of several kinds, those may have been of one.
func saysNoMore(v *Verdict, all []Verdict, p *bench.Pair) bool {
	i := slices.IndexFunc(all, func(o Verdict) bool { return o.Measure.Name == bench.Instructions.Name })
	varied := func(r *bench.Result) bool {
		s := sample(r, bench.Instructions.Name)
		return s != nil && differ(s.Values)
	}
	switch {
	case i < 0:
		return false
	case all[i].Outcome == Failed, varied(p.Base), varied(p.Head):
		return v.Outcome != Regression
	case p.Base != nil && p.Head != nil && len(p.Base.Kinds)+len(p.Head.Kinds) > 0:
		return v.Outcome != Regression && v.Outcome != Inconclusive
	}
	return true
}

// severity returns the severity of the threshold that bounds the growth, or else of the
// strictest budget.
func severity(rule *Threshold, budgets []Threshold) Severity {
	if rule != nil {
		return rule.Severity
	}
	if len(budgets) > 0 && !slices.ContainsFunc(budgets, Threshold.fails) {
		return Warn
	}
	return Fail
}

// fails reports whether the threshold can make a comparison fail.
func (t Threshold) fails() bool { return t.Severity == Fail }

// measures returns the measures of the head, then those that only the base has, then those
// with a budget that could not be applied.
func (j *judgement) measures(p *bench.Pair) []bench.Measure {
	var all []bench.Measure
	add := func(m bench.Measure) {
		if !slices.ContainsFunc(all, func(o bench.Measure) bool { return o.Name == m.Name }) {
			all = append(all, m)
		}
	}
	for _, r := range []*bench.Result{p.Head, p.Base} {
		for i := 0; r != nil && i < len(r.Samples); i++ {
			if len(r.Samples[i].Values) > 0 {
				add(r.Samples[i].Measure)
			}
		}
	}
	for _, name := range j.unspent(p.Head, &j.comparison.Testbed) {
		add(bench.Measure{Name: name})
	}
	return all
}

// measure judges one measure that a threshold or budget bounds. A nil rule leaves the
// growth unbounded.
func (j *judgement) measure(v *Verdict, p *bench.Pair, s subject, rule *Threshold) {
	head, base := sample(p.Head, s.measure), sample(p.Base, s.measure)
	switch {
	case p.Head == nil:
		j.removed(v, p)
	case s.measure == bench.BPFInsnsLater.Name && p.Base != nil && uncalled(p.Base) != uncalled(p.Head):
		v.Outcome, v.Why = Inconclusive, "not the same number of callbacks was called on both sides"
	case head == nil && p.Base == nil && j.comparison.BaseTestbed == nil:
		// A comparison drives only what both sides have.
		v.Outcome, v.Why = Inconclusive, "added, and not run beside anything: its budget could not be applied"
	case head == nil && base != nil:
		v.Outcome, v.Why = Failed, "not measured"
	case head == nil:
		v.Outcome, v.Why = Failed, notMeasured(j.comparison.Testbed.Mode, s.measure)
	case p.Base == nil:
		v.Outcome, v.Why = Added, "new: "+figure(stat.Summarize(*head).Center, head.Measure)
	case rule == nil:
		v.Why = figure(stat.Summarize(*head).Center, head.Measure)
	case p.Doubt != "":
		v.Outcome, v.Why = Inconclusive, p.Doubt
	case base == nil:
		v.Outcome, v.Why = Inconclusive, "not measured on the base"+because(p.Base.Error)
	case p.Identical:
		v.Identical, v.Why = true, "identical: both sides have the same object and the same workload"
	case j.foreign() != "":
		v.Outcome, v.Why = Inconclusive, "the base was measured on another testbed: "+j.foreign()
	case (p.Base.Fresh == "") != (p.Head.Fresh == "") && ofCalls(head.Measure):
		v.Outcome, v.Why = Inconclusive, "measured in two ways: each run had a call of its own on one side alone, because it depends on "+cmp.Or(p.Base.Fresh, p.Head.Fresh)+" that others leave"
	case ofRuns(head.Measure) && otherMessages(p):
		j.messages(v, p, base, head, rule)
	case s.measure == bench.BPFInsns.Name && len(p.Base.Kinds) > 0 && len(p.Head.Kinds) > 0:
		j.kinds(v, p, base, head, rule)
	case isCount(base, head):
		j.exact(v, base, head, rule)
	default:
		j.timed(v)
	}
}

// ofCalls reports whether a measure depends on how many runs a call of test_run makes.
func ofCalls(m bench.Measure) bool {
	class := bench.ClassOf(m.Name)
	return class != bench.Bytecode && class != bench.Static
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

// sample returns the sample of a measure, or nil if it has no value.
func sample(r *bench.Result, measure string) *bench.Sample {
	if r == nil {
		return nil
	}
	if s := r.Sample(measure); s != nil && len(s.Values) > 0 {
		return s
	}
	all := r.Sample(bench.BPFInsns.Name)
	if all == nil || len(all.Values) == 0 {
		return nil
	}
	switch measure {
	case bench.BPFInsnsFirst.Name: // its first runs are like all others
		return &bench.Sample{Measure: bench.BPFInsnsFirst, Values: all.Values}
	case bench.BPFInsnsAged.Name: // as are those after very many
		return &bench.Sample{Measure: bench.BPFInsnsAged, Values: all.Values}
	case bench.BPFInsnsLater.Name:
		if len(r.Later) == 0 { // runs leave nothing for later
			return &bench.Sample{Measure: bench.BPFInsnsLater, Values: []float64{0}}
		}
	}
	return nil
}

// uncalled returns how many callbacks were to be called after the runs, and were not.
func uncalled(r *bench.Result) (n int) {
	for _, l := range r.Later {
		if l.BPFInsns == nil {
			n++
		}
	}
	return n
}
