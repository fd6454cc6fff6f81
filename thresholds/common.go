package thresholds

import (
	"fmt"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/strictyaml"
)

// common finds out what the two sides have in common. A gate that compared nothing has not
// been passed.
func (j *judgement) common() {
	heads, both := 0, 0
	for i := range j.comparison.Pairs {
		p := &j.comparison.Pairs[i]
		if p.Head != nil {
			heads++
			if p.Base == nil {
				j.added = append(j.added, p.Benchmark)
			}
		}
		if p.Head != nil && p.Base != nil {
			both++
		}
	}
	c := j.comparison
	if both > 0 || len(c.Pairs) == 0 || c.Partial {
		return
	}
	// In stored runs, the head may lack a kernel that the base has.
	j.headless = heads == 0 && c.BaseTestbed != nil
	j.disjoint = !j.headless
}

// doubtLikeness says that the base's benchmark has another name. That it is the same one is
// a guess, which fails only where a benchmark that is gone would.
func (j *judgement) doubtLikeness(v *Verdict, p *bench.Pair) {
	if p.LooksLike == "" {
		return
	}
	v.Why = "looks like " + p.LooksLike + ": " + v.Why
	if j.Removed != FailRemoved && v.Severity == Fail && (v.Outcome == Regression || v.Outcome == Inconclusive) {
		v.Severity = Warn
	}
}

// removed judges a benchmark that only the base has.
func (j *judgement) removed(v *Verdict, p *bench.Pair) {
	if j.headless {
		v.Outcome, v.Why = Inconclusive, fmt.Sprintf("the head was not measured in %s mode on Linux %s", j.comparison.Testbed.Mode, j.comparison.Testbed.Kernel)
		return
	}
	why := "the head does not have this benchmark"
	if near := strictyaml.Nearest(p.Benchmark, j.added); near != "" {
		why += fmt.Sprintf("; was it renamed to %q?", near)
	}
	v.Outcome, v.Severity, v.Why = Removed, j.Removed.severity(), why
}
