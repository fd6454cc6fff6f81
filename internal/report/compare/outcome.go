package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/report/grid"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/thresholds"
)

// standing is an outcome from a reader's view: a mere warning is not a failure,
// and an ignored outcome is nothing.
type standing int

// The standings, what matters most first.
const (
	regressed standing = iota
	overBudget
	lost // removed, which fails
	failed
	inconclusive
	warned
	overWarned
	gone // removed, which warns
	accepted
	allowed
	improved
	removed
	added
	passed
	identical
	ignored
	unjudged
)

// words are the standings in words, for one verdict.
var words = [...]string{
	"regression", "over budget", "removed", "failed", "inconclusive", "regression (warning)", "over budget (warning)", "removed", "accepted",
	"allowed", "improvement", "removed", "added", "pass", "identical", "ignored", "not judged",
}

func (s standing) String() string { return words[s] }

// standings are those of outcomes that count in full.
var standings = map[thresholds.Outcome]standing{
	thresholds.Regression: regressed, thresholds.OverBudget: overBudget, thresholds.Failed: failed, thresholds.Inconclusive: inconclusive,
	thresholds.Accepted: accepted, thresholds.Improvement: improved, thresholds.Removed: removed, thresholds.Added: added, thresholds.Pass: passed,
}

// standingOf returns the standing of a verdict, which may be nil.
func standingOf(v *thresholds.Verdict) standing {
	if v == nil {
		return unjudged
	}
	s, known := standings[v.Outcome]
	switch {
	case s == removed && v.Severity == thresholds.Fail:
		return lost
	case s == removed && v.Severity == thresholds.Warn:
		return gone
	case s == removed && v.Severity == thresholds.Ignore:
		return removed
	case v.Severity == thresholds.Ignore:
		return ignored
	case !known:
		return unjudged
	case s == regressed && v.Severity == thresholds.Warn:
		return warned
	case s == overBudget && v.Severity == thresholds.Warn:
		return overWarned
	case s == passed && v.Allowed:
		return allowed
	case s == passed && v.Identical:
		return identical
	}
	return s
}

// oneSided reports whether the standing is that of a benchmark that only one side has.
func (s standing) oneSided() bool { return s == added || s.without() }

// without reports whether the standing is that of a benchmark that the head lacks.
func (s standing) without() bool { return s == lost || s == gone || s == removed }

// listed reports whether the report mentions the standing: it is not a pass.
func (s standing) listed() bool { return s < passed }

// cell returns the standing in words.
func (s standing) cell() grid.Cell { return s.paint(grid.Figure(s.String())) }

// paint colors a cell by what the standing means.
func (s standing) paint(c grid.Cell) grid.Cell {
	switch s {
	case regressed, overBudget, lost, failed:
		return c.Paint(grid.Red)
	case inconclusive, warned, overWarned, gone:
		return c.Paint(grid.Yellow)
	case improved:
		return c.Paint(grid.Green)
	default:
		return c
	}
}

// result returns the standing of the cost of a run. For a benchmark of only one
// side it is often unknown, because only pairs are run.
func (r *row) result() standing {
	s := standingOf(r.main)
	switch {
	case s != unjudged:
		return s
	case r.Identical && r.Doubt == "":
		return identical
	case r.Base == nil:
		return added
	case r.Head == nil:
		for _, v := range r.others {
			if s := standingOf(v); s.without() {
				return s
			}
		}
		return removed
	}
	return s
}

// gating returns the standing of the cost of a run, or of another measure that
// is worse and keeps the comparison from passing.
func (r *row) gating() standing {
	if s := r.standing(); s <= inconclusive {
		return s
	}
	return r.result()
}

// standing returns the standing that matters most for a benchmark.
func (r *row) standing() standing {
	s := r.result()
	for _, v := range r.others {
		s = min(s, standingOf(v))
	}
	return s
}

// tally counts the benchmarks by their standings: "1 regression (2 measures), 5
// unchanged". What several kernels share counts once.
func tally(m *Model) string {
	counts := count(m)
	n := func(s standing) int { return counts[s].benchmarks }
	var parts []string
	add := func(s standing, text string) {
		if n(s) == 0 {
			return
		}
		if counts[s].measures > n(s) {
			text += fmt.Sprintf(" (%d measures)", counts[s].measures)
		}
		parts = append(parts, s.paint(grid.Figure(text)).Text(m.Color))
	}
	add(regressed, unit.Plural(n(regressed), "regression"))
	add(overBudget, fmt.Sprintf("%d over budget", n(overBudget)))
	add(warned, unit.Plural(n(warned), "regression warning"))
	add(overWarned, unit.Plural(n(overWarned), "budget warning"))
	add(failed, fmt.Sprintf("%d failed", n(failed)))
	add(allowed, fmt.Sprintf("%d within the allowance", n(allowed)))
	add(improved, unit.Plural(n(improved), "improvement"))
	add(passed, fmt.Sprintf("%d unchanged", n(passed)))
	for _, s := range []standing{identical, accepted, inconclusive, added, lost, gone, removed, ignored, unjudged} {
		add(s, fmt.Sprintf("%d %s", n(s), s))
	}
	if len(parts) == 0 {
		return "nothing was compared"
	}
	line := strings.Join(parts, ", ")
	if len(m.Tables) > 1 {
		line += fmt.Sprintf(", on %d kernels", len(m.Tables))
	}
	if m.disjoint() {
		line += "; nothing was compared, because base and head have no benchmark in common"
	}
	if m.Overall() == thresholds.Inconclusive {
		line += "; inconclusive results fail with --strict"
	}
	if i := slices.IndexFunc(m.Tables, func(t Table) bool { return t.Verdicts.Partial }); i >= 0 {
		line += "; " + m.Tables[i].whyPartial()
	}
	return line
}

// disjoint reports whether a table compared nothing.
func (m *Model) disjoint() bool {
	return slices.ContainsFunc(m.Tables, func(t Table) bool { return t.Verdicts.Disjoint })
}

// tallied counts the benchmarks of a standing, and their measures.
type tallied struct{ benchmarks, measures int }

// count counts the benchmarks by the standings of their measures, each at its
// worst on any kernel, including those without a remark. A benchmark whose
// measures have different standings counts for each.
func count(m *Model) (counts [unjudged + 1]tallied) {
	type measure struct{ benchmark, name string }
	worst := map[measure]standing{}
	note := func(k measure, s standing) {
		if old, ok := worst[k]; !ok || s < old {
			worst[k] = s
		}
	}
	rows := m.rows()
	listed := map[string]bool{}
	for _, f := range findings(rows, false) {
		k := measure{f.row.Benchmark, f.verdict.Measure.Name}
		if s := f.standing(); s.oneSided() {
			k.name = ""
		}
		note(k, f.standing())
		listed[f.row.Benchmark] = true
	}
	for i := range rows {
		if r := &rows[i]; !listed[r.Benchmark] {
			note(measure{benchmark: r.Benchmark}, r.standing())
		}
	}
	type kind struct {
		benchmark string
		standing  standing
	}
	seen := map[kind]bool{}
	for k, s := range worst {
		counts[s].measures++
		if of := (kind{k.benchmark, s}); !seen[of] {
			seen[of] = true
			counts[s].benchmarks++
		}
	}
	return counts
}
