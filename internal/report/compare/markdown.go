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

// Markdown writes a judged comparison for a comment on a pull request, in at
// most limit bytes; 0 means any number.
func Markdown(w io.Writer, m *Model, limit int) error {
	_, err := io.WriteString(w, Document(m).Markdown(limit))
	return err
}

// Document returns a judged comparison as Markdown: what did not pass and why
// in sight, everything else behind a click. It has no color.
func Document(m *Model) *grid.Document {
	// Only terminals color words.
	colorless := *m
	colorless.Color, colorless.Columns = false, 0
	m = &colorless
	rows := m.rows()
	found := findings(rows, false)
	d := &grid.Document{Title: heading(m, rows), Lines: head(m).Lines(len(m.Tables))}
	if len(rows) > 0 {
		d.Paragraphs = []string{tally(m)}
	}
	d.Sections = []grid.Section{
		findingSection(m, rows, found), evidenceSection(m, found), warningSection(m, rows),
		passedSection(m, rows), otherSection(m, rows), legendSection(m),
	}
	return d
}

// heading returns the verdict on everything. A benchmark counts once, whatever
// the number of kernels.
func heading(m *Model, rows []row) grid.Heading {
	counts, all := count(m), map[string]bool{}
	for i := range rows {
		all[rows[i].Benchmark] = true
	}
	switch m.Overall() {
	case thresholds.Regression:
		return grid.Heading{Mark: grid.Failed, Text: fmt.Sprintf("Regression in %d of %s", counts[regressed].benchmarks, unit.Plural(len(all), "benchmark"))}
	case thresholds.OverBudget:
		return grid.Heading{Mark: grid.Failed, Text: fmt.Sprintf("%d of %s over budget", counts[overBudget].benchmarks, unit.Plural(len(all), "benchmark"))}
	case thresholds.Failed:
		if len(rows) == 0 || m.disjoint() && len(m.Tables) == 1 {
			return grid.Heading{Mark: grid.Failed, Text: "Nothing was compared"}
		}
		return grid.Heading{Mark: grid.Failed, Text: "Not everything was measured"}
	case thresholds.Inconclusive:
		return grid.Heading{Mark: grid.Warned, Text: "Inconclusive: a regression cannot be excluded"}
	}
	return grid.Heading{Mark: grid.Passed, Text: "No regression in " + unit.Plural(len(all), "benchmark")}
}

// findingSection returns a table of what did not pass.
func findingSection(m *Model, rows []row, found []finding) grid.Section {
	t := new(grid.Grid).Left("benchmark", "measure").Right("base", "head", "delta").Right(intervalHeader(rows)).If(columnsOf(rows).interval).Left("verdict")
	for _, f := range folded(m, found) {
		t.Row(append(f.cells(), grid.Figure(interval(f.verdict)), grid.Figure(f.standing().String()).Paint(grid.Bold))...)
	}
	return t.Section("verdict")
}

// evidenceSection says why, one line per verdict, with the lines of source that
// became dearer below.
func evidenceSection(m *Model, found []finding) grid.Section {
	s := grid.Section{Noun: "reason", Open: "\n"}
	for _, l := range whys(m, found) {
		item := "- " + l.cell(m).Markdown() + "\n"
		for i := range l.dearest {
			d := &l.dearest[i]
			c := grid.Name(report.LinePlace(d)).And(grid.Figure(": "), grid.Word(report.LineChange(d)))
			if source := report.LineSource(d); source != "" {
				c = c.And(grid.Figure(": "), grid.Name(source))
			}
			item += "  - " + c.Markdown() + "\n"
		}
		s.Rows = append(s.Rows, item)
	}
	return s
}

func warningSection(m *Model, rows []row) grid.Section {
	s := grid.Section{Noun: "warning"}
	for _, l := range warnings(m, rows) {
		s.Rows = append(s.Rows, "- "+l.who(m).And(grid.Figure(": "), grid.Word(l.text)).Markdown()+"\n")
	}
	return s.Behind(unit.Plural(len(s.Rows), "warning"))
}

// passedSection has the benchmarks whose cost is not in the first table; with
// several kernels, all benchmarks.
func passedSection(m *Model, rows []row) grid.Section {
	if len(m.Tables) > 1 {
		s := matrixGrid(m, matrix(m)).Section("benchmark")
		return s.Behind("All " + unit.Plural(len(s.Rows), s.Noun))
	}
	s := costGrid(rows, func(r *row) bool { return !standingOf(r.main).said() }).Section("other benchmark")
	if len(s.Rows) == len(rows) {
		s.Noun = "benchmark"
	}
	return s.Behind(unit.Plural(len(s.Rows), s.Noun))
}

// otherSection has the other measures that changed and passed.
func otherSection(m *Model, rows []row) grid.Section {
	found, unchanged := otherFindings(rows, false)
	if len(found) == 0 && len(unchanged) > 0 {
		return grid.Section{Noun: "note", Rows: []string{"\nNo other measure changed: " + escape.Markdown(strings.Join(unchanged, ", ")) + ".\n"}}
	}
	t := new(grid.Grid).Left("benchmark", "measure").Right("base", "head", "delta")
	left := false
	for _, f := range folded(m, smaller(found)) {
		t.Row(f.cells()...)
		left = left || f.standing() == unjudged
	}
	title := unit.Plural(t.Len(), "change") + " within the thresholds"
	if left {
		title = unit.Plural(t.Len(), "other figure") + ", passed or not judged"
	}
	return t.Section("smaller change").Behind(title)
}

func legendSection(m *Model) grid.Section {
	var s grid.Section
	if said := strings.Join(legend(m), " "); said != "" {
		s = grid.Section{Noun: "legend", Rows: []string{said + "\n"}}
	}
	return s.Behind("How to read this")
}
