package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/thresholds"
)

// line is a sentence on one or several benchmarks.
type line struct {
	standing standing
	// names are the benchmarks that it is on, measures their measures.
	names, measures []string
	text            string
}

// lines collects sentences: what is said of several benchmarks in the same
// words is said once.
type lines struct {
	all []*line
	at  map[string]*line
}

func (l *lines) add(s standing, benchmark, name, measure, text string) {
	key := fmt.Sprintf("%d %s", s, text)
	// A reader looks for these by benchmark and measure: only several kernels
	// share a line.
	if s == regressed || s == warned || s == improved || s == accepted {
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
	// Benchmarks come one after the other, so only the last can be the same.
	if n := len(found.names); n == 0 || found.names[n-1] != name {
		found.names = append(found.names, name)
	}
	if measure != "" && !slices.Contains(found.measures, measure) {
		found.measures = append(found.measures, measure)
	}
}

// whys are the evidence of the verdicts.
func whys(m *Comparison, found []finding) []*line {
	var l lines
	for _, f := range found {
		l.add(f.standing(), f.row.Benchmark, m.name(f.row), measureName(f.verdict), f.verdict.Why)
	}
	return l.all
}

// warnings are what a reader must know to trust the figures: of the results
// and of the changes that verdicts rest on.
func warnings(m *Comparison, rows []comparedRow) []*line {
	var l lines
	for i := range rows {
		r := &rows[i]
		for _, w := range r.warnings() {
			l.add(passed, r.Benchmark, m.name(r), "", w)
		}
	}
	return l.all
}

func (r *comparedRow) warnings() []string {
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

// few lists the first names as they are printed, and counts the rest.
func few(names []string, printed func(string) string) string {
	const most = 3
	var list []string
	for i, name := range names {
		if i == most && len(names) > most+1 {
			return fmt.Sprintf("%s and %d more", strings.Join(list, ", "), len(names)-most)
		}
		list = append(list, printed(name))
	}
	return strings.Join(list, ", ")
}

// who are the benchmarks of a line: all of them, in one word, if they are
// several and there are no more.
func (l *line) who(total int, printed func(string) string) string {
	if len(l.names) == total && total > 1 {
		return "all benchmarks"
	}
	return few(l.names, printed)
}
