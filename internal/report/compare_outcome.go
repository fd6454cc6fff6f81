package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/org/ebpf-bench-action/thresholds"
)

// standing is an outcome as a reader takes it: what only warns is no failure,
// and what is ignored is nothing.
type standing int

// The standings, what matters most first.
const (
	regressed standing = iota
	failed
	inconclusive
	warned
	accepted
	improved
	removed
	added
	passed
	ignored
	unjudged
)

// words are how the standings are said of one verdict.
var words = [...]string{
	"regression", "failed", "inconclusive", "regression (warn)", "accepted",
	"improvement", "removed", "added", "pass", "ignored", "not judged",
}

func (s standing) String() string { return words[s] }

// standingOf is the standing of a verdict, nil for none.
func standingOf(v *thresholds.Verdict) standing {
	switch {
	case v == nil:
		return unjudged
	case v.Severity == thresholds.Ignore:
		return ignored
	case v.Outcome == thresholds.Regression && v.Severity == thresholds.Warn:
		return warned
	}
	switch v.Outcome {
	case thresholds.Regression:
		return regressed
	case thresholds.Failed:
		return failed
	case thresholds.Inconclusive:
		return inconclusive
	case thresholds.Accepted:
		return accepted
	case thresholds.Improvement:
		return improved
	case thresholds.Removed:
		return removed
	case thresholds.Added:
		return added
	case thresholds.Pass:
		return passed
	}
	return unjudged
}

// said tells whether a reader is to hear of it: it is no pass.
func (s standing) said() bool { return s < passed }

// paint colors text by what the standing means.
func (s standing) paint(color bool, what string) string {
	switch s {
	case regressed, failed:
		return paint(color, text.FgRed, what)
	case inconclusive, warned:
		return paint(color, text.FgYellow, what)
	case improved:
		return paint(color, text.FgGreen, what)
	default:
		return what
	}
}

// standing is what matters most of a benchmark.
func (r *comparedRow) standing() standing {
	s := standingOf(r.main)
	for _, v := range r.others {
		s = min(s, standingOf(v))
	}
	return s
}

// tally counts the benchmarks by standing: "1 regression, 5 unchanged".
func tally(m *Comparison) string {
	var counts [unjudged + 1]int
	rows := m.rows()
	for _, r := range rows {
		counts[r.standing()]++
	}
	var parts []string
	add := func(s standing, text string) {
		if counts[s] > 0 {
			parts = append(parts, s.paint(m.Color, text))
		}
	}
	add(regressed, plural(counts[regressed], "regression"))
	add(warned, plural(counts[warned], "regression")+" (warn)")
	add(failed, fmt.Sprintf("%d failed", counts[failed]))
	add(improved, plural(counts[improved], "improvement"))
	add(passed, fmt.Sprintf("%d unchanged", counts[passed]))
	for _, s := range []standing{accepted, inconclusive, added, removed, ignored, unjudged} {
		add(s, fmt.Sprintf("%d %s", counts[s], s))
	}
	if len(parts) == 0 {
		return "nothing was compared"
	}
	line := strings.Join(parts, ", ")
	if len(m.Tables) > 1 {
		line += fmt.Sprintf(", on %d kernels", len(m.Tables))
	}
	if m.Overall() == thresholds.Inconclusive {
		line += "; what is inconclusive does not pass here"
	}
	if slices.ContainsFunc(m.Tables, func(t ComparedTable) bool { return t.Verdicts.Partial }) {
		line += "; the comparison was ended early"
	}
	return line
}
