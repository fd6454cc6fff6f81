package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
)

const (
	// aroundLines is how many lines to show before and after those with code.
	aroundLines = 2
	// gapLines is the largest gap without code that is shown between two lines
	// with it.
	gapLines = 8
)

// around returns the text of files that are unchanged since they were compiled:
// lines of others would not match.
func (m *Model) around(p *program) func(file string) []string {
	fits := map[string]bool{}
	return func(file string) []string {
		source := m.Sources[file]
		if source == nil {
			return nil
		}
		if _, known := fits[file]; !known {
			fits[file] = !slices.ContainsFunc(p.Lines, func(l bench.Line) bool { return l.File == file && p.of(&l) != nil && !sameLine(source, &l) })
		}
		if !fits[file] {
			return nil
		}
		return source
	}
}

// sameLine reports whether a line of source is what the object says.
func sameLine(source []string, l *bench.Line) bool {
	return l.Number <= len(source) && (l.Text == "" || strings.TrimSpace(l.Text) == strings.TrimSpace(source[l.Number-1]))
}

// add adds a line with code, and the lines of the source between it and the one
// before.
func (f *pageFile) add(l *bench.Line, next pageLine, source []string) {
	switch {
	case l.Source() == nil || strings.HasPrefix(next.Number, "−"):
		// It has no place in the head's file.
	case source == nil:
		next.Gap = f.last > 0 && l.Number > f.last+1
		f.last = l.Number
	default:
		from := l.Number - aroundLines
		if f.last > 0 {
			from = f.last + 1
			if l.Number-f.last > gapLines+1 {
				f.source(source, f.last+1, f.last+aroundLines+1)
				from = l.Number - aroundLines
			}
		}
		gap := f.last > 0 && from > f.last+1
		n := len(f.Lines)
		f.source(source, from, l.Number)
		if gap && len(f.Lines) > n {
			f.Lines[n].Gap = true
		}
		f.last = l.Number
	}
	f.Lines = append(f.Lines, next)
}

// finish adds lines after the last one with code.
func (f *pageFile) finish(source []string) {
	if source != nil && f.last > 0 {
		f.source(source, f.last+1, f.last+aroundLines+1)
	}
}

// source adds the lines of the source from one number up to another.
func (f *pageFile) source(source []string, from, to int) {
	for n := max(from, 1); n < min(to, len(source)+1); n++ {
		f.last = n
		f.Lines = append(f.Lines, pageLine{Number: fmt.Sprint(n), Source: pageSource(source[n-1]), Around: true})
	}
}

// once leaves out tables of functions that are on the page already: several
// benchmarks may run the same program, and several programs may contain the
// same function.
func once(programs []pageProgram) {
	type table struct{ id, in string }
	seen, moved := map[string]table{}, map[string]map[string]string{}
	for i := range programs {
		p := &programs[i]
		for j := range p.Functions {
			f := &p.Functions[j]
			key, ids := f.key()
			if len(ids) == 0 {
				continue
			}
			at, known := seen[key]
			if !known {
				seen[key], moved[key] = table{ids[0], p.Name}, map[string]string{}
				for n, id := range ids {
					moved[key][fmt.Sprint(n)] = id
				}
				continue
			}
			f.Files, f.Same, f.SameIn = nil, at.id, at.in
			for n, id := range ids {
				for d := range p.Dearest {
					if p.Dearest[d].ID == id {
						p.Dearest[d].ID = moved[key][fmt.Sprint(n)]
					}
				}
			}
		}
	}
}

// key returns everything that the table of a function says, ids its lines.
func (f *pageFunction) key() (key string, ids []string) {
	files := make([]pageFile, len(f.Files))
	for i, file := range f.Files {
		files[i] = pageFile{Name: file.Name, Lines: slices.Clone(file.Lines)}
		for n := range files[i].Lines {
			if l := &files[i].Lines[n]; l.ID != "" {
				ids = append(ids, l.ID)
				l.ID = ""
			}
		}
	}
	return fmt.Sprintf("%q %+v", f.Name, files), ids
}
