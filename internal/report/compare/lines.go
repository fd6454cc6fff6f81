package compare

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/report"
	"github.com/org/ebpf-bench-action/internal/report/grid"
	"github.com/org/ebpf-bench-action/internal/stat"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/thresholds"
)

// line is a sentence about one or several benchmarks.
type line struct {
	standing standing
	// on are the benchmarks that it is about, measures their measures.
	on       report.Sentences
	measures []string
	text     string
	// place is where the program is in the source, dearest are the lines of it
	// that became dearer. Both may be empty.
	place   string
	dearest []bench.Line
}

// lines collects sentences: the same sentence about several benchmarks appears
// once.
type lines struct {
	all []*line
	at  map[string]*line
}

func (l *lines) add(s standing, benchmark, kernel, measure, text string) *line {
	key := fmt.Sprintf("%d %s", s, text)
	// A reader looks for these by benchmark and measure: only several kernels
	// share a line.
	if slices.Contains([]standing{regressed, overBudget, warned, overWarned, improved, accepted, allowed}, s) {
		key += "\x00" + benchmark + "\x00" + measure
	}
	found := l.at[key]
	if found == nil {
		if l.at == nil {
			l.at = map[string]*line{}
		}
		found = &line{standing: s, text: text}
		l.at[key] = found
		l.all = append(l.all, found)
	}
	found.on.Add(benchmark, kernel)
	if measure != "" {
		found.measures = unit.AppendNew(found.measures, measure)
	}
	return found
}

// whys returns the evidence of the verdicts. The first that says that a
// benchmark became dearer names the lines that did.
func whys(m *Model, found []finding) []*line {
	var l lines
	named := map[string]bool{}
	for _, f := range gather(found) {
		line := l.add(f.standing(), f.row.Benchmark, f.row.kernel, f.verdict.Measure.Name, f.why())
		dearest := report.DearestLines(f.row.Pair)
		switch {
		case len(dearest) == 0: // then the place of the program has to do
			line.place = f.place()
		case f.dearer() && !named[f.row.Benchmark]:
			line.dearest, named[f.row.Benchmark] = dearest, true
		}
	}
	return l.all
}

// gathered is a finding with those on other measures of the same load of a program, which
// change together.
type gathered struct {
	finding
	also []*thresholds.Verdict
}

func gather(found []finding) (all []gathered) {
	type kind struct {
		row      *row
		standing standing
		limit    string // the reason of the verdict without the figures before it
	}
	at := map[kind]int{}
	for _, f := range found {
		k := kind{f.row, f.standing(), f.verdict.Why[strings.Index(f.verdict.Why, ")")+1:]}
		i, ok := at[k]
		static := bench.ClassOf(f.verdict.Measure.Name) == bench.Static && f.verdict.Change != nil
		switch {
		case static && ok:
			all[i].also = append(all[i].also, f.verdict)
			continue
		case static:
			at[k] = len(all)
		}
		all = append(all, gathered{finding: f})
	}
	return all
}

// why returns the reason of the verdict, and how much the other measures changed.
func (g *gathered) why() string {
	text := g.verdict.Why
	for i, v := range g.also {
		text += map[bool]string{true: "; ", false: ", "}[i == 0] + v.Measure.Name + " " + exactDelta(v.Change)
	}
	return text
}

// warnings returns what a reader must know to trust the figures: the warnings
// of the results and of the changes that verdicts rest on.
func warnings(m *Model, rows []row) []*line {
	var l lines
	reached := map[string]report.Reached{} // by kernel
	for i := range rows {
		r := &rows[i]
		if reached[r.kernel] == nil {
			reached[r.kernel] = report.Reached{}
		}
		reached[r.kernel].Add(r.Pair)
	}
	for i := range rows {
		r := &rows[i]
		for _, w := range r.warnings() {
			l.add(passed, r.Benchmark, r.kernel, "", w)
		}
		if missing := reached[r.kernel].Missing(r.Pair); missing != "" {
			l.add(passed, r.Benchmark, r.kernel, "", missing)
		}
	}
	return l.all
}

// notes say how benchmarks were measured, and what differs if the code does not.
func notes(rows []row) []*line {
	var l lines
	for i := range rows {
		r := &rows[i]
		if len(r.Data) > 0 && r.gating().listed() {
			l.add(passed, r.Benchmark, r.kernel, "", "has the same instructions as the base; what differs is data: "+strings.Join(r.Data, "; "))
		}
		if report.FreshRuns(r.Head) != "" {
			l.add(passed, r.Benchmark, r.kernel, "", report.FreshRuns(r.Head))
		}
	}
	return l.all
}

func (r *row) warnings() []string {
	var all []string
	if r.LooksLike != "" && r.standing() > gone { // else the verdict says so
		all = append(all, fmt.Sprintf("is compared with %s, which the head does not have: their programs look alike", r.LooksLike))
	}
	if !r.Identical {
		all = append(all, report.OtherWork(r.Pair)...)
	}
	if r.Head != nil {
		all = append(all, r.Head.Warnings...)
	}
	if r.Base != nil {
		all = appendNew(all, r.Base.Warnings)
	}
	for _, v := range r.verdicts() {
		for _, c := range []*stat.Change{v.Change, v.Second} {
			if c != nil && v.Severity != thresholds.Ignore {
				all = appendNew(all, c.Warnings)
			}
		}
	}
	return unit.Unique(all)
}

// appendNew appends the warnings that are not there in the same words.
func appendNew(all, warnings []string) []string {
	was := slices.Clone(all)
	for _, w := range warnings {
		if !slices.ContainsFunc(was, func(of string) bool { return wording(of) == wording(w) }) {
			all = append(all, w)
		}
	}
	return all
}

var figures = regexp.MustCompile(`[^ ]+:[0-9]+|(index )?\b[0-9][0-9.,]*\b`)

// wording returns a warning without its figures and places, which differ by chance or
// between the sides. The digits of a name and an index are neither.
func wording(warning string) string {
	return figures.ReplaceAllStringFunc(warning, func(figure string) string {
		if strings.HasPrefix(figure, "index ") {
			return figure
		}
		return "N"
	})
}

// who returns the benchmarks of a line: "all" in one word if there are several
// and the line is about all.
func (l *line) who(m *Model) grid.Cell {
	on := 0
	var names []string
	for _, s := range l.on {
		on += len(s.Kernels)
		names = append(names, m.named(s.Text, s.Kernels))
	}
	if len(names) > 1 && on == len(m.rows()) {
		return grid.Figure("all benchmarks")
	}
	return grid.List(names, grid.Name)
}

// cell returns the line: which benchmarks and measures, what, why and where.
func (l *line) cell(m *Model) grid.Cell {
	c, colon := l.who(m), grid.Figure(": ")
	if len(l.measures) > 0 {
		c = c.And(colon, grid.List(l.measures, grid.Word))
	}
	c = c.And(colon, l.standing.cell(), colon, grid.Word(l.text))
	if l.place != "" {
		c = c.And(grid.Figure(", at "), grid.Name(l.place))
	}
	return c
}

// place returns where a program that costs too much is in the source, or "" if
// that is unknown or it does not.
func (f *finding) place() string {
	s := f.standing()
	if f.row.Head == nil || f.row.Head.Source == nil || s != regressed && s != overBudget {
		return ""
	}
	return report.SourcePlace(f.row.Head.Source)
}
