package compare

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/thresholds"

	"github.com/org/ebpf-bench-action/internal/bench"
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
	deciding := decisive(found)
	lines := dearest(deciding)
	d := &grid.Document{Title: heading(m, rows), Lines: head(m).Lines(len(m.Tables))}
	if len(rows) > 0 {
		d.Paragraphs = []string{tally(m)}
	}
	d.Sections = []grid.Section{
		findingSection(m, rows, deciding), dearestSection(m, deciding, lines), unmeasuredSection(m, found), explainSection(m, lines),
		reasonSection(m, found), warningSection(m, rows), noteSection(m, rows), passedSection(m, rows), otherSection(m, rows), reproduceSection(m), legendSection(m),
	}
	return d
}

// decisive returns the finding that decides about each benchmark on a kernel: the worst
// that keeps the comparison from passing, else that of the cost of a run.
func decisive(found []finding) []finding {
	decides := map[*row]*finding{}
	for i := range found {
		f := &found[i]
		if best := decides[f.row]; best == nil || best.standing() > inconclusive && f.verdict == f.row.main {
			decides[f.row] = f
		}
	}
	return slices.DeleteFunc(slices.Clone(found), func(f finding) bool { return decides[f.row].verdict != f.verdict })
}

// heading returns the verdict on everything. A benchmark counts once, whatever
// the number of kernels.
func heading(m *Model, rows []row) grid.Heading {
	counts, all, slower, faster := count(m), map[string]bool{}, map[string]bool{}, map[string]bool{}
	for i := range rows {
		r := &rows[i]
		all[r.Benchmark] = true
		switch s := standingOf(r.main); {
		case r.LooksLike != "" && s == warned:
			slower[r.Benchmark] = true
		case s == improved:
			faster[r.Benchmark] = true
		}
	}
	some := func(n int, what string) string {
		if n == 0 {
			return ""
		}
		return fmt.Sprintf(", %d %s", n, what)
	}
	removals := counts[lost].benchmarks + counts[gone].benchmarks + counts[removed].benchmarks
	both := len(all) - removals - counts[added].benchmarks
	more := some(removals, "removed") + some(len(slower), "renamed and slower") + some(counts[added].benchmarks, "added")
	unknown, unclear, why := unjudgeable(rows)
	uncompared := ""
	if unknown > 0 {
		uncompared = fmt.Sprintf(", %d not compared: %s", unknown, why)
	}
	of := unit.Plural(both, "benchmark")
	switch m.Overall() {
	case thresholds.Regression:
		return grid.Heading{Mark: grid.Failed, Text: fmt.Sprintf("Regression in %d of %s", counts[regressed].benchmarks, of) + more + uncompared}
	case thresholds.OverBudget:
		return grid.Heading{Mark: grid.Failed, Text: fmt.Sprintf("%d of %s over budget", counts[overBudget].benchmarks, unit.Plural(len(all)-removals, "benchmark")) + more + uncompared}
	case thresholds.Removed:
		return grid.Heading{Mark: grid.Failed, Text: fmt.Sprintf("%d of %s removed", counts[lost].benchmarks, unit.Plural(len(all), "benchmark"))}
	case thresholds.Failed:
		if len(rows) == 0 || m.disjoint() && len(m.Tables) == 1 {
			return grid.Heading{Mark: grid.Failed, Text: "Nothing was compared"}
		}
		return grid.Heading{Mark: grid.Failed, Text: "Not everything was measured" + more}
	}
	both -= len(slower)
	judged := both - unknown - unclear
	of = unit.Plural(both, "benchmark")
	switch {
	case unknown > 0 && unknown == both:
		return grid.Heading{Mark: grid.Warned, Text: "Not compared: " + why + more}
	case unknown+unclear > 0 && (judged == 0 || m.Overall() == thresholds.Inconclusive):
		return grid.Heading{Mark: grid.Warned, Text: "Inconclusive: a regression cannot be excluded" + more + uncompared}
	case unknown+unclear > 0:
		return grid.Heading{Mark: grid.Warned, Text: fmt.Sprintf("No regression in %d of %s", judged, of) + some(unclear, "inconclusive") + more + uncompared}
	case both == 0 && more != "":
		return grid.Heading{Mark: grid.Warned, Text: strings.TrimPrefix(more, ", ")}
	case counts[gone].benchmarks+len(slower) > 0:
		return grid.Heading{Mark: grid.Warned, Text: "No regression in " + of + more}
	}
	same := some(counts[identical].benchmarks, "identical")
	switch {
	case counts[identical].benchmarks != both:
	case both == 1:
		same = ", which is identical"
	case both > 1:
		same = ", all identical"
	}
	return grid.Heading{Mark: grid.Passed, Text: "No regression in " + of + same + some(len(faster), "improved") + more}
}

// unjudgeable counts the benchmarks whose sides cannot be compared, and says why, and
// those that were compared without a clear answer.
func unjudgeable(rows []row) (unknown, unclear int, why string) {
	doubted, open := map[string]bool{}, map[string]bool{}
	for i := range rows {
		r := &rows[i]
		if r.Doubt == "" {
			if slices.ContainsFunc(r.verdicts(), func(v *thresholds.Verdict) bool {
				return v.Outcome == thresholds.Inconclusive && v.Severity == thresholds.Fail
			}) {
				open[r.Benchmark] = true
			}
			continue
		}
		doubted[r.Benchmark] = true
		// The text may come from a stranger.
		for _, known := range []string{"the base was not built", "the head was not built", "the base was built at another path"} {
			if strings.HasPrefix(r.Doubt, known) {
				why = cmp.Or(why, known)
			}
		}
	}
	if len(doubted) > 0 {
		why = cmp.Or(why, "it is not known what was built")
	}
	maps.DeleteFunc(open, func(name string, _ bool) bool { return doubted[name] })
	return len(doubted), len(open), why
}

// findingSection returns a table of what did not pass.
func findingSection(m *Model, rows []row, found []finding) grid.Section {
	t := new(grid.Grid).Left("benchmark", "measure").Right("base", "head", "delta").Right(intervalHeader(rows)).If(columnsOf(rows).interval).Left("verdict")
	for _, f := range folded(m, found) {
		cells := f.cells()
		if like := f.row.LooksLike; like != "" {
			cells[0] = cells[0].And(grid.Figure(", compared with "), grid.Name(like))
		}
		t.Row(append(cells, grid.Figure(interval(f.verdict)), grid.Figure(f.standing().String()).Paint(grid.Bold))...)
	}
	return t.Section("verdict")
}

// dearestSection names the lines of source that became dearer, of all benchmarks the
// dearest, and where the programs without known lines are.
func dearestSection(m *Model, deciding []finding, lines []dearLine) grid.Section {
	s := grid.Section{Noun: "line", Open: "\n"}
	// Where several regressed, a line without its benchmark says too little.
	several := len(lines) > 0 && slices.ContainsFunc(deciding, func(f finding) bool {
		return f.dearer() && f.row.Benchmark != lines[0].row.Benchmark
	})
	for _, d := range lines {
		c := m.linked(report.LinePlace(&d.line), d.line.Source()).And(grid.Figure(": "), grid.Word(report.LineChange(&d.line)))
		if source := report.LineSource(&d.line); source != "" {
			c = c.And(grid.Figure(": "), grid.Name(source))
		}
		if several {
			c = c.And(grid.Figure(", in "), grid.Name(d.row.Benchmark))
		}
		s.Rows = append(s.Rows, "- "+c.Markdown()+"\n")
	}
	if len(s.Rows) > 0 {
		return s
	}
	places := map[string]bool{}
	for _, f := range deciding {
		place := f.place()
		if place == "" || places[place] || len(places) == maxPlaces {
			continue
		}
		places[place] = true
		s.Rows = append(s.Rows, "- "+grid.Name(f.row.Benchmark).And(grid.Figure(" is at "), m.linked(place, f.row.Head.Source)).Markdown()+"\n")
	}
	return s
}

// maxPlaces is how many places of programs are in sight.
const maxPlaces = 3

// dearLine is a line of source that became dearer, in a benchmark.
type dearLine struct {
	line bench.Line
	row  *row
}

// dearest returns the lines where the heads execute more than the bases, the largest
// growth first, at most as many as one benchmark names. A line that several benchmarks run
// counts once.
func dearest(deciding []finding) []dearLine {
	var all []dearLine
	for _, f := range deciding {
		if f.dearer() {
			for _, l := range report.DearestLines(f.row.Pair) {
				all = append(all, dearLine{l, f.row})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b dearLine) int { return cmp.Compare(b.line.Delta(), a.line.Delta()) })
	seen := map[string]bool{}
	all = slices.DeleteFunc(all, func(d dearLine) bool {
		place := report.LinePlace(&d.line)
		if d.line.Source() == nil { // such a place is one in its program
			place = d.row.Benchmark + ":" + place
		}
		defer func() { seen[place] = true }()
		return seen[place]
	})
	return all[:min(len(all), report.MaxDearest)]
}

// linked returns a place in the source, which links to it where there is a URL.
func (m *Model) linked(place string, at *bench.Source) grid.Cell {
	c := grid.Name(place)
	if at != nil && m.Link != nil {
		return c.Link(m.Link(at.File, at.Line))
	}
	return c
}

// unmeasuredSection says why benchmarks were not judged, which the table has no figures
// for.
func unmeasuredSection(m *Model, found []finding) grid.Section {
	// With the bullet of the lines before, Markdown would make one list of both.
	return reasons(m, "* ", slices.DeleteFunc(slices.Clone(found), func(f finding) bool { return hasFigures(f.standing()) }))
}

// reasonSection says why of all verdicts on changes, those that do not decide included.
func reasonSection(m *Model, found []finding) grid.Section {
	s := reasons(m, "- ", slices.DeleteFunc(slices.Clone(found), func(f finding) bool { return !hasFigures(f.standing()) }))
	return s.Behind("Why: " + unit.Plural(len(s.Rows), "verdict"))
}

// hasFigures reports whether verdicts of that standing are about a change, which the table
// has in figures.
func hasFigures(s standing) bool {
	return slices.Contains([]standing{regressed, overBudget, warned, overWarned, accepted, allowed, improved, added, lost, gone, removed}, s)
}

// reasons says why, one line with a bullet per verdict.
func reasons(m *Model, bullet string, found []finding) grid.Section {
	s := grid.Section{Noun: "reason", Open: "\n"}
	for _, l := range whys(m, found) {
		s.Rows = append(s.Rows, bullet+l.cell(m).Markdown()+"\n")
	}
	return s
}

// explainSection has all lines of the worst regression, that of the dearest line, where
// the head executes more or fewer instructions. It is empty if they are in sight.
func explainSection(m *Model, lines []dearLine) grid.Section {
	if len(lines) == 0 {
		return grid.Section{}
	}
	worst, inSight := lines[0].row, 0
	for _, d := range lines {
		if d.row == worst {
			inSight++
		}
	}
	if inSight == len(worst.Lines) {
		return grid.Section{}
	}
	t := new(grid.Grid).Left("line").Right("base", "head", "delta").Left("source")
	for i := range worst.Lines {
		l := &worst.Lines[i]
		t.Row(m.linked(report.LinePlace(l), l.Source()), grid.Figure(unit.Mean(report.PerRun(l.Base))), grid.Figure(unit.Mean(report.PerRun(l.Head))),
			grid.Figure(report.MoreInsns(l.Delta())), grid.Name(report.LineSource(l)))
	}
	s := t.Section("line")
	s.Open = "\n" + grid.Name(m.named(worst.Benchmark, []string{worst.kernel})).Markdown() + ", BPF instructions a run:\n" + s.Open
	return s.Behind("The worst regression, line by line")
}

// reproduceSection has the commands that compare the same again.
func reproduceSection(m *Model) grid.Section {
	s := grid.Section{Noun: "command"}
	if m.Reproduce != "" && m.Overall() != thresholds.Pass {
		s.Rows = []string{escape.MarkdownFence(m.Reproduce)}
	}
	return s.Behind("Reproduce it on your machine")
}

func warningSection(m *Model, rows []row) grid.Section {
	s := grid.Section{Noun: "warning"}
	s.Rows = bullets(m, warnings(m, rows))
	return s.Behind(unit.Plural(len(s.Rows), "warning"))
}

func noteSection(m *Model, rows []row) grid.Section {
	s := grid.Section{Noun: "note"}
	s.Rows = bullets(m, notes(rows))
	return s.Behind(unit.Plural(len(s.Rows), "note"))
}

func bullets(m *Model, of []*line) (rows []string) {
	for _, l := range of {
		rows = append(rows, "- "+l.who(m).And(grid.Figure(": "), grid.Word(l.text)).Markdown()+"\n")
	}
	return rows
}

// passedSection has the benchmarks whose cost is not in the first table; with
// several kernels, all benchmarks.
func passedSection(m *Model, rows []row) grid.Section {
	if len(m.Tables) > 1 {
		s := matrixGrid(m, matrix(m)).Section("benchmark")
		return s.Behind("All " + unit.Plural(len(s.Rows), s.Noun))
	}
	s := costGrid(rows, func(r *row) bool { return !r.result().listed() }).Section("other benchmark")
	if len(s.Rows) == len(rows) {
		s.Noun = "benchmark"
	}
	return s.Behind(unit.Plural(len(s.Rows), s.Noun))
}

// otherSection has the other measures that changed and passed.
func otherSection(m *Model, rows []row) grid.Section {
	found, unchanged := otherFindings(rows, false)
	if len(found) == 0 && len(unchanged) > 0 {
		return grid.Section{Noun: "note", Rows: []string{"\nNo other measure changed" + m.ofCompared() + ": " + escape.Markdown(strings.Join(unchanged, ", ")) + ".\n"}}
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
	if text := strings.Join(legend(m), " "); text != "" {
		s = grid.Section{Noun: "legend", Rows: []string{text + "\n"}}
	}
	return s.Behind("How to read this")
}
