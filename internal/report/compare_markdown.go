package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/org/ebpf-bench-action/thresholds"

	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// CompareMarkdown writes a judged comparison for a comment on a pull request,
// in at most limit bytes, 0 for any number: what did not pass and why in sight,
// everything else behind a click. It has no color.
func CompareMarkdown(w io.Writer, m *Comparison, limit int) error {
	// Words for the terminal are colored there alone.
	colorless := *m
	colorless.Color, colorless.Columns = false, 0
	m = &colorless
	rows := m.rows()
	found := findings(rows, false)
	sections := []section{
		findingSection(m, rows, found),
		evidenceSection(m, found),
		warningSection(m, rows),
		passedSection(m, rows),
		otherSection(m, rows),
		legendSection(m),
	}
	_, err := io.WriteString(w, fit(markdownHead(m, rows), sections, limit))
	return err
}

// markdownHead is the verdict in words, the count, and what was measured.
func markdownHead(m *Comparison, rows []comparedRow) string {
	var b strings.Builder
	b.WriteString("## " + heading(m, rows) + "\n")
	if len(rows) > 0 {
		b.WriteString("\n" + tally(m) + "\n")
	}
	var lines []string
	for _, line := range comparedHead(m) {
		lines = append(lines, escape.MarkdownLine(strings.Join(strings.Fields(line), " ")))
	}
	if len(lines) > 0 {
		b.WriteString("\n" + strings.Join(lines, "<br>\n") + "\n")
	}
	return b.String()
}

// heading is the verdict on everything. A benchmark counts once, on however
// many kernels it was measured.
func heading(m *Comparison, rows []comparedRow) string {
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
func findingSection(m *Comparison, rows []comparedRow, found []finding) section {
	header := []string{"benchmark", "measure", "base", "head", "delta"}
	has := columnsOf(rows)
	if has.interval {
		header = append(header, intervalHeader(rows))
	}
	s := section{noun: "verdict", open: "\n" + markdownHeader(2, append(header, "verdict")...)}
	for _, f := range folded(m, found) {
		cells := []string{escape.MarkdownCode(f.name), orNone(escape.Markdown(f.verdict.Measure.Name)), escape.Markdown(f.base), escape.Markdown(f.head), delta(f.verdict)}
		if has.interval {
			cells = append(cells, interval(f.verdict))
		}
		s.rows = append(s.rows, markdownRow(append(cells, "**"+f.standing().String()+"**")...))
	}
	return s
}

// evidenceSection says why, a line a verdict.
func evidenceSection(m *Comparison, found []finding) section {
	s := section{noun: "reason", open: "\n"}
	for _, l := range whys(m, found) {
		what := l.who(m, escape.MarkdownCode)
		if len(l.measures) > 0 {
			what += ": " + few(l.measures, escape.Markdown)
		}
		s.rows = append(s.rows, fmt.Sprintf("- %s: %s: %s", what, l.standing, l.markdownEvidence()))
	}
	return s
}

func warningSection(m *Comparison, rows []comparedRow) section {
	s := section{noun: "warning", end: "\n</details>\n"}
	for _, l := range warnings(m, rows) {
		s.rows = append(s.rows, fmt.Sprintf("- %s: %s\n", l.who(m, escape.MarkdownCode), escape.Markdown(l.text)))
	}
	s.open = summaryLine(unit.Plural(len(s.rows), "warning"))
	return s
}

// passedSection has the benchmarks of which the first table has not got the
// cost; of several kernels, all benchmarks.
func passedSection(m *Comparison, rows []comparedRow) section {
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
	s := section{noun: "other benchmark", end: "\n</details>\n"}
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
		s.rows = append(s.rows, markdownRow(append(cells, r.verdictWord())...))
	}
	if len(s.rows) == len(rows) {
		s.noun = "benchmark"
	}
	s.open = summaryLine(unit.Plural(len(s.rows), s.noun)) + markdownHeader(2, append(header, "verdict")...)
	return s
}

func matrixSection(m *Comparison) section {
	header := []string{"benchmark"}
	for _, kernel := range m.kernels() {
		header = append(header, escape.Markdown(kernel))
	}
	s := section{noun: "benchmark", end: "\n</details>\n"}
	for _, r := range matrix(m) {
		cells := []string{escape.MarkdownCode(r.name)}
		for _, c := range r.cells {
			cells = append(cells, matrixCell(c))
		}
		s.rows = append(s.rows, markdownRow(cells...))
	}
	s.open = summaryLine("All "+unit.Plural(len(s.rows), s.noun)) + markdownHeader(1, header...)
	return s
}

// otherSection has the other measures that changed and passed.
func otherSection(m *Comparison, rows []comparedRow) section {
	found, unchanged := otherFindings(rows, false)
	left := false
	s := section{noun: "smaller change", end: "\n</details>\n"}
	for _, f := range folded(m, found) {
		// What did not pass is in the first table.
		if f.standing().said() && f.standing() != allowed {
			continue
		}
		s.rows = append(s.rows, markdownRow(escape.MarkdownCode(f.name), escape.Markdown(f.verdict.Measure.Name),
			escape.Markdown(f.base), escape.Markdown(f.head), delta(f.verdict)))
		left = left || f.standing() == unjudged
	}
	if len(s.rows) > 0 {
		title := unit.Plural(len(s.rows), "change") + " within the thresholds"
		if left {
			title = unit.Plural(len(s.rows), "other figure") + ", passed or not judged"
		}
		s.open = summaryLine(title) +
			markdownHeader(2, "benchmark", "measure", "base", "head", "delta")
		return s
	}
	if len(found) == 0 && len(unchanged) > 0 {
		return section{noun: "note", rows: []string{"\nNo other measure changed: " + escape.Markdown(strings.Join(unchanged, ", ")) + ".\n"}}
	}
	return s
}

func legendSection(m *Comparison) section {
	text := strings.Join(compareLegend(m), " ")
	if text == "" {
		return section{}
	}
	return section{noun: "legend", rows: []string{summaryLine("How to read this") + text + "\n\n</details>\n"}}
}

// summaryLine opens a part behind a click. The blank line makes GitHub read
// what follows as Markdown.
func summaryLine(title string) string {
	return "\n<details><summary>" + title + "</summary>\n\n"
}

// markdownHeader begins a table. All columns but the first few, and the last
// if it is that of the verdict, hold numbers.
func markdownHeader(names int, header ...string) string {
	rule := make([]string, len(header))
	for i, name := range header {
		rule[i] = "---"
		if i >= names && name != "verdict" {
			rule[i] = "--:"
		}
	}
	return markdownRow(header...) + markdownRow(rule...)
}

func markdownRow(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |\n" }

func orNone(s string) string {
	if s == "" {
		return none
	}
	return s
}
