package compare

import (
	"fmt"
	"slices"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/report"
	"github.com/org/ebpf-bench-action/internal/report/grid"
	"github.com/org/ebpf-bench-action/thresholds"
)

// line is a sentence on one or several benchmarks.
type line struct {
	standing standing
	// on are the benchmarks that it is on, measures their measures.
	on       []subject
	measures []string
	text     string
	// place is where the program stands in the source, dearest are the lines of it
	// that got dearer. Both may be empty.
	place   string
	dearest []bench.Line
}

// subject is a benchmark, and the kernels where there are several.
type subject struct {
	benchmark string
	kernels   []string
}

// lines collects sentences: what is said of several benchmarks in the same
// words is said once.
type lines struct {
	all []*line
	at  map[string]*line
}

func (l *lines) add(s standing, benchmark, kernel, measure, text string) *line {
	key := fmt.Sprintf("%d %s", s, text)
	// A reader looks for these by benchmark and measure: only several kernels
	// share a line.
	if s == regressed || s == overBudget || s == warned || s == overWarned || s == improved || s == accepted || s == allowed {
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
	found.of(benchmark, kernel)
	if measure != "" && !slices.Contains(found.measures, measure) {
		found.measures = append(found.measures, measure)
	}
	return found
}

// of adds a benchmark on a kernel to those that the line is on.
func (l *line) of(benchmark, kernel string) {
	i := slices.IndexFunc(l.on, func(s subject) bool { return s.benchmark == benchmark })
	if i < 0 {
		l.on = append(l.on, subject{benchmark, []string{kernel}})
		return
	}
	if s := &l.on[i]; !slices.Contains(s.kernels, kernel) {
		s.kernels = append(s.kernels, kernel)
	}
}

// whys are the evidence of the verdicts. The first that says a benchmark got dearer
// names the lines that did.
func whys(m *Model, found []finding) []*line {
	var l lines
	named := map[string]bool{}
	for _, f := range found {
		line := l.add(f.standing(), f.row.Benchmark, m.place(f.row.table), f.verdict.Measure.Name, f.verdict.Why)
		line.place = f.place()
		if f.standing() == regressed && !named[f.row.Benchmark] {
			line.dearest = report.DearestLines(f.row.Pair)
			named[f.row.Benchmark] = len(line.dearest) > 0
		}
	}
	return l.all
}

// warnings are what a reader must know to trust the figures: of the results
// and of the changes that verdicts rest on.
func warnings(m *Model, rows []row) []*line {
	var l lines
	for i := range rows {
		r := &rows[i]
		for _, w := range r.warnings() {
			l.add(passed, r.Benchmark, m.place(r.table), "", w)
		}
	}
	return l.all
}

func (r *row) warnings() []string {
	var all []string
	add := func(warnings []string) {
		for _, w := range warnings {
			if !slices.Contains(all, w) {
				all = append(all, w)
			}
		}
	}
	if r.Base != nil {
		add(r.Base.Warnings)
	}
	if r.Head != nil {
		add(r.Head.Warnings)
	}
	for _, v := range r.verdicts() {
		if v.Severity == thresholds.Ignore {
			continue
		}
		if v.Change != nil {
			add(v.Change.Warnings)
		}
		if v.Second != nil {
			add(v.Second.Warnings)
		}
	}
	return all
}

// who are the benchmarks of a line: all of them, in one word, if they are
// several and there are no more.
func (l *line) who(m *Model) grid.Cell {
	on := 0
	var names []string
	for _, s := range l.on {
		on += len(s.kernels)
		names = append(names, m.named(s.benchmark, s.kernels))
	}
	if len(names) > 1 && on == len(m.rows()) {
		return grid.Figure("all benchmarks")
	}
	return grid.List(names, grid.Name)
}

// cell is the line: of which benchmarks and measures, what, why and where.
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

// place is where the program stands that costs too much, empty where that is not
// known or it does not.
func (f *finding) place() string {
	s := f.standing()
	if f.row.Head == nil || f.row.Head.Source == nil || s != regressed && s != overBudget {
		return ""
	}
	return report.SourcePlace(f.row.Head.Source)
}
