package compare

import (
	"fmt"
	"io"
	"strings"

	"github.com/org/ebpf-bench-action/thresholds"

	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/report"
	"github.com/org/ebpf-bench-action/internal/report/grid"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// Markdown writes a judged comparison for a comment on a pull request,
// in at most limit bytes, 0 for any number: what did not pass and why in sight,
// everything else behind a click. It has no color.
func Markdown(w io.Writer, m *Model, limit int) error {
	// Words for the terminal are colored there alone.
	colorless := *m
	colorless.Color, colorless.Columns = false, 0
	m = &colorless
	rows := m.rows()
	found := findings(rows, false)
	sections := []grid.Section{
		findingSection(m, rows, found),
		evidenceSection(m, found),
		warningSection(m, rows),
		passedSection(m, rows),
		otherSection(m, rows),
		legendSection(m),
	}
	_, err := io.WriteString(w, grid.Fit(markdownHead(m, rows), sections, limit))
	return err
}

// markdownHead is the verdict in words, the count, and what was measured.
func markdownHead(m *Model, rows []row) string {
	var b strings.Builder
	b.WriteString("## " + heading(m, rows) + "\n")
	if len(rows) > 0 {
		b.WriteString("\n" + tally(m) + "\n")
	}
	var lines []string
	for _, line := range head(m) {
		lines = append(lines, escape.MarkdownLine(strings.Join(strings.Fields(line), " ")))
	}
	if len(lines) > 0 {
		b.WriteString("\n" + strings.Join(lines, "<br>\n") + "\n")
	}
	return b.String()
}

// heading is the verdict on everything. A benchmark counts once, on however
// many kernels it was measured.
func heading(m *Model, rows []row) string {
	all, slower, over := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for i := range rows {
		r := &rows[i]
		all[r.Benchmark] = true
		if r.standing() == regressed {
			slower[r.Benchmark] = true
		}
		if r.standing() == overBudget {
			over[r.Benchmark] = true
		}
	}
	switch m.Overall() {
	case thresholds.Regression:
		return fmt.Sprintf("❌ Regression in %d of %s", len(slower), unit.Plural(len(all), "benchmark"))
	case thresholds.OverBudget:
		return fmt.Sprintf("❌ %d of %s over budget", len(over), unit.Plural(len(all), "benchmark"))
	case thresholds.Failed:
		if len(rows) == 0 || m.disjoint() && len(m.Tables) == 1 {
			return "❌ Nothing was compared"
		}
		return "❌ Not everything was measured"
	case thresholds.Inconclusive:
		return "⚠️ Inconclusive: a regression cannot be excluded"
	}
	return "✅ No regression in " + unit.Plural(len(all), "benchmark")
}

// findingSection is a table of what did not pass.
func findingSection(m *Model, rows []row, found []finding) grid.Section {
	header := []string{"benchmark", "measure", "base", "head", "delta"}
	has := columnsOf(rows)
	if has.interval {
		header = append(header, intervalHeader(rows))
	}
	s := grid.Section{Noun: "verdict", Open: "\n" + grid.MarkdownHeader(2, append(header, "verdict")...)}
	for _, f := range folded(m, found) {
		cells := []string{escape.MarkdownCode(f.name), orNone(escape.Markdown(f.verdict.Measure.Name)), escape.Markdown(f.base), escape.Markdown(f.head), delta(f.verdict)}
		if has.interval {
			cells = append(cells, interval(f.verdict))
		}
		s.Rows = append(s.Rows, grid.MarkdownRow(append(cells, "**"+f.standing().String()+"**")...))
	}
	return s
}

// evidenceSection says why, a line a verdict.
func evidenceSection(m *Model, found []finding) grid.Section {
	s := grid.Section{Noun: "reason", Open: "\n"}
	for _, l := range whys(m, found) {
		what := l.who(m, escape.MarkdownCode)
		if len(l.measures) > 0 {
			what += ": " + report.Few(l.measures, escape.Markdown)
		}
		s.Rows = append(s.Rows, fmt.Sprintf("- %s: %s: %s", what, l.standing, l.markdownEvidence()))
	}
	return s
}

func warningSection(m *Model, rows []row) grid.Section {
	s := grid.Section{Noun: "warning", End: "\n</details>\n"}
	for _, l := range warnings(m, rows) {
		s.Rows = append(s.Rows, fmt.Sprintf("- %s: %s\n", l.who(m, escape.MarkdownCode), escape.Markdown(l.text)))
	}
	s.Open = grid.SummaryLine(unit.Plural(len(s.Rows), "warning"))
	return s
}

// passedSection has the benchmarks of which the first table has not got the
// cost; of several kernels, all benchmarks.
func passedSection(m *Model, rows []row) grid.Section {
	if len(m.Tables) > 1 {
		return matrixSection(m)
	}
	header := []string{"benchmark", "driver", "base", "head", "delta"}
	has := columnsOf(rows)
	if has.interval {
		header = append(header, intervalHeader(rows))
	}
	if has.wouldCatch {
		header = append(header, "would catch")
	}
	s := grid.Section{Noun: "other benchmark", End: "\n</details>\n"}
	for i := range rows {
		r := &rows[i]
		if standingOf(r.main).said() {
			continue
		}
		base, head := r.figures(r.main)
		cells := []string{escape.MarkdownCode(r.Benchmark), orNone(escape.Markdown(r.driver())), escape.Markdown(base), escape.Markdown(head), delta(r.main)}
		if has.interval {
			cells = append(cells, interval(r.main))
		}
		if has.wouldCatch {
			cells = append(cells, wouldCatch(r.main))
		}
		s.Rows = append(s.Rows, grid.MarkdownRow(append(cells, r.verdictWord())...))
	}
	if len(s.Rows) == len(rows) {
		s.Noun = "benchmark"
	}
	s.Open = grid.SummaryLine(unit.Plural(len(s.Rows), s.Noun)) + grid.MarkdownHeader(2, append(header, "verdict")...)
	return s
}

func matrixSection(m *Model) grid.Section {
	header := []string{"benchmark"}
	for _, kernel := range m.kernels() {
		header = append(header, escape.Markdown(kernel))
	}
	s := grid.Section{Noun: "benchmark", End: "\n</details>\n"}
	for _, r := range matrix(m) {
		cells := []string{escape.MarkdownCode(r.name)}
		for _, c := range r.cells {
			cells = append(cells, matrixCell(c))
		}
		s.Rows = append(s.Rows, grid.MarkdownRow(cells...))
	}
	s.Open = grid.SummaryLine("All "+unit.Plural(len(s.Rows), s.Noun)) + grid.MarkdownHeader(1, header...)
	return s
}

// otherSection has the other measures that changed and passed.
func otherSection(m *Model, rows []row) grid.Section {
	found, unchanged := otherFindings(rows, false)
	left := false
	s := grid.Section{Noun: "smaller change", End: "\n</details>\n"}
	for _, f := range folded(m, found) {
		// What did not pass is in the first table.
		if f.standing().said() && f.standing() != allowed {
			continue
		}
		s.Rows = append(s.Rows, grid.MarkdownRow(escape.MarkdownCode(f.name), escape.Markdown(f.verdict.Measure.Name),
			escape.Markdown(f.base), escape.Markdown(f.head), delta(f.verdict)))
		left = left || f.standing() == unjudged
	}
	if len(s.Rows) > 0 {
		title := unit.Plural(len(s.Rows), "change") + " within the thresholds"
		if left {
			title = unit.Plural(len(s.Rows), "other figure") + ", passed or not judged"
		}
		s.Open = grid.SummaryLine(title) +
			grid.MarkdownHeader(2, "benchmark", "measure", "base", "head", "delta")
		return s
	}
	if len(found) == 0 && len(unchanged) > 0 {
		return grid.Section{Noun: "note", Rows: []string{"\nNo other measure changed: " + escape.Markdown(strings.Join(unchanged, ", ")) + ".\n"}}
	}
	return s
}

func legendSection(m *Model) grid.Section {
	text := strings.Join(legend(m), " ")
	if text == "" {
		return grid.Section{}
	}
	return grid.Section{Noun: "legend", Rows: []string{grid.SummaryLine("How to read this") + text + "\n\n</details>\n"}}
}

func orNone(s string) string {
	if s == "" {
		return grid.None
	}
	return s
}
