package thresholds

import (
	"fmt"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// One file bounds the growth of measures for every mode, and judging growth needs a
// comparison. If that leaves nothing in a file to judge by, its author believes in a gate
// that does not exist.

// NothingForARun returns a message if nothing in the file judges a run by itself, in one
// of these modes, and otherwise an empty string.
func (p *Policy) NothingForARun(modes []bench.Mode) string {
	others := false
	for _, t := range p.Thresholds {
		if t.Severity == Ignore || !t.hasBudget() && t.History == nil {
			continue
		}
		if len(modes) == 0 || slices.ContainsFunc(modes, func(m bench.Mode) bool { return m.Measures(t.Measure) && (t.Mode == "" || t.Mode == m) }) {
			return ""
		}
		others = true
	}
	if others {
		return fmt.Sprintf("nothing in %s judges a run in %s mode: its limits are all for measures of another mode", p.doc.File, modes[0])
	}
	return fmt.Sprintf("nothing in %s judges a run by itself: percent and absolute need a base, as in ebpf-bench compare; max, min and history judge a run", p.doc.File)
}

// OtherMode returns a message if the file bounds the growth of a run's cost only in
// another mode, with what is judged instead. It returns an empty string otherwise, and if
// the mode is unknown.
func (p *Policy) OtherMode(modes []bench.Mode) string {
	if len(modes) != 1 {
		return ""
	}
	var others []string
	for i := range p.Thresholds {
		t := &p.Thresholds[i]
		switch {
		case t.Percent == nil && t.Absolute == nil, bench.ClassOf(t.Measure) == bench.Static:
		case modes[0].Measures(t.Measure):
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
	return fmt.Sprintf("%s bounds the growth of %s, which %s mode does not measure: it judges the cost of a run by its %s, with %s",
		p.doc.File, strings.Join(inOrder(others), " and "), modes[0], cost.Name, by)
}
