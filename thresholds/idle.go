package thresholds

import (
	"fmt"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// How much a measure may grow is said for every mode in one file, and it takes a
// comparison to tell. Where that leaves nothing of a file to judge by, whoever
// wrote it believes in another gate than there is.

// NothingForARun says so where a run by itself, in one of these modes, is judged by
// nothing of the file, and is empty elsewhere.
func (p *Policy) NothingForARun(modes []bench.Mode) string {
	others := false
	for _, t := range p.Thresholds {
		if t.Severity == Ignore || !t.hasBudget() && t.History == nil {
			continue
		}
		if len(modes) == 0 || slices.ContainsFunc(modes, func(m bench.Mode) bool { return isOf(m, t.Measure) && (t.Mode == "" || t.Mode == m) }) {
			return ""
		}
		others = true
	}
	if others {
		return fmt.Sprintf("nothing in %s judges a run in %s mode: its limits are all for measures of another mode", p.doc.File, modes[0])
	}
	return fmt.Sprintf("nothing in %s judges a run by itself: percent and absolute need a base, as in ebpf-bench compare; max, min and history judge a run", p.doc.File)
}

// OtherMode says so where the file bounds the growth of what a run costs in
// another mode alone, and what is judged instead. It is empty elsewhere, and where
// the mode is not known.
func (p *Policy) OtherMode(modes []bench.Mode) string {
	if len(modes) != 1 {
		return ""
	}
	var others []string
	for i := range p.Thresholds {
		t := &p.Thresholds[i]
		switch {
		case t.Percent == nil && t.Absolute == nil, isStatic(t.Measure):
		case isOf(modes[0], t.Measure):
			return ""
		default:
			others = append(others, t.Measure)
		}
	}
	if len(others) == 0 {
		return ""
	}
	cost := bench.Latency
	if modes[0] == bench.ModeExact {
		cost = bench.Instructions
	}
	by := "nothing"
	if rule := p.rule(subject{measure: cost.Name, mode: modes[0]}); rule != nil {
		by = "the built-in threshold: " + allowance(rule, cost)
	}
	return fmt.Sprintf("%s bounds the growth of %s, which %s mode does not measure: what a run costs is judged by its %s, by %s",
		p.doc.File, strings.Join(inOrder(others), " and "), modes[0], cost.Name, by)
}
