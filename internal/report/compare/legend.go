package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/report"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/thresholds"
)

// legend explains the figures, one sentence per element.
func legend(m *Model) []string {
	rows := m.rows()
	if len(rows) == 0 {
		return nil
	}
	exact, stored, cost := true, false, costWords(rows)
	for i := range m.Tables {
		exact = exact && m.Tables[i].exact()
		stored = stored || m.Tables[i].stored()
	}
	var text []string
	switch {
	case exact:
		text = append(text, "base and head are the machine instructions that a run executes, less those of an empty program;",
			"they are counted, not timed, so even a delta of 1 is real; = means no difference.")
	case stored:
		text = append(text, cost+"; delta is the extra cost of the head,",
			"~ where it is not significant. It includes what the machine did between the two.")
	default:
		text = append(text, cost+"; delta is the extra cost of the head",
			"in the rounds that measured both, ~ where it is not significant.")
	}
	if line := testLine(m, stored); line != "" {
		text = append(text, line)
	}
	if slices.ContainsFunc(rows, func(r row) bool { return r.result() == identical }) {
		text = append(text, "Identical is what has the same workload, programs and maps on both sides, whatever else of an object changed; it is measured once.")
	}
	if line := allowanceLine(rows); line != "" {
		text = append(text, line)
	}
	if len(m.Tables) > 1 {
		return append(text, "A column is a kernel, and a delta without a word behind it is a pass.")
	}
	switch has := columnsOf(rows); {
	case has.interval && has.wouldCatch:
		text = append(text, "The true delta lies in the interval; would catch is the smallest slowdown that this comparison would have caught, with a probability of "+unit.Level(thresholds.Power)+".")
	case has.interval:
		text = append(text, "The true delta lies in the interval.")
	}
	if slices.ContainsFunc(rows, func(r row) bool { return r.main != nil && r.main.Change != nil && r.main.Change.NearZero() }) {
		text = append(text, "Where the base costs next to nothing, or less than the noise, these are not percentages.")
	}
	return text
}

// costWords say what base and head are: other tools do not subtract the cost of
// an empty program.
func costWords(rows []row) string {
	const run, operation = "what a run costs, less the cost of an empty program", "what an operation takes"
	ingested := 0
	for i := range rows {
		if rows[i].ingested() {
			ingested++
		}
	}
	switch ingested {
	case 0:
		return "base and head are " + run
	case len(rows):
		return "base and head are " + operation
	}
	return "base and head are " + run + ", or where go or criterion measured " + operation
}

// allowanceLine says why a change can pass, and what is not judged at all, if
// there is any.
func allowanceLine(rows []row) string {
	var lines []string
	passes, left := false, false
	for i := range rows {
		for _, v := range rows[i].verdicts() {
			s := standingOf(v)
			passes = passes || (s == passed || s == allowed) && significant(v)
			left = left || s == unjudged && v.Measure.Name != ""
		}
	}
	if passes {
		lines = append(lines, "Changes that passed are within their threshold.")
	}
	if left {
		lines = append(lines, "Measures without a verdict have no threshold.")
	}
	return strings.Join(lines, " ")
}

// testLine says which test judges timed measures, over how many values, and why
// base, head and delta need not add up. It returns "" if nothing was timed.
func testLine(m *Model, stored bool) string {
	least, most, tests := 0, 0, 0
	for _, t := range m.Tables {
		for i := range t.Verdicts.All {
			v := &t.Verdicts.All[i]
			if v.Tests == 0 || v.Change == nil || v.Change.Measure.Exact {
				continue
			}
			if least == 0 || v.Change.Loads < least {
				least = v.Change.Loads
			}
			most, tests = max(most, v.Change.Loads), max(tests, v.Tests)
		}
	}
	if tests == 0 {
		return ""
	}
	n := fmt.Sprintf("n = %d", most)
	if least != most {
		n = fmt.Sprintf("n from %d to %d", least, most)
	}
	test, medians := "Wilcoxon's signed-rank test of the loads' ratios", "Base is a median, and head is base with delta"
	switch {
	case stored && !slices.ContainsFunc(m.rows(), func(r row) bool { return !r.ingested() }):
		test, medians = "the test of Mann and Whitney", ofBoth("measurements")
	case stored:
		test, medians = "the test of Mann and Whitney of the loads' medians", ofBoth("loads")
	}
	text := fmt.Sprintf("%s. Delta is significant by %s (%s)", medians, test, n)
	if tests > 1 {
		text += fmt.Sprintf(", after Holm's correction for %s", unit.Plural(tests, "test"))
	}
	return text + "."
}

// ofBoth says what base and head are that were measured one after the other.
func ofBoth(from string) string {
	return "Base and head are medians; delta is estimated from the " + from + ", so it need not be their difference"
}

func (t *Table) exact() bool { return t.Testbed.Mode == bench.ModeExact }

// paired reports whether anything was measured on both sides at the same time.
func (t *Table) paired() bool {
	for i := range t.Pairs {
		if !t.exact() && t.Pairs[i].Paired() {
			return true
		}
	}
	return false
}

// identical reports whether nothing was to be compared, because both sides are the same.
func (t *Table) identical() bool {
	return len(t.Pairs) > 0 && !slices.ContainsFunc(t.Pairs, func(p bench.Pair) bool { return !p.Identical })
}

// whyPartial says why the comparison is incomplete.
func (t *Table) whyPartial() string {
	if t.stored() && len(t.Missing)+len(t.MissingKernels) == 0 {
		return "base or head is partial"
	}
	return report.WhyPartial("comparison", t.Missing, t.MissingKernels)
}

// stored reports whether the base was measured at another time than the head.
func (t *Table) stored() bool { return t.BaseTestbed != nil }
