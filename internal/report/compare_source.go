package report

import (
	"fmt"
	"path"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape"
)

// place is where the program stands that costs too much, empty where that is not
// known or it does not.
func (f *finding) place() string {
	s := f.standing()
	if f.row.Head == nil || f.row.Head.Source == nil || s != regressed && s != overBudget {
		return ""
	}
	return sourcePlace(f.row.Head.Source)
}

// sourcePlace is such as bpf/filter.c:41. Where on a machine the sources were compiled
// tells nobody else anything, nor does a path that is cut.
func sourcePlace(s *bench.Source) string {
	file := s.File
	if path.IsAbs(file) || len(file) > escape.MaxName/2 {
		file = path.Base(file)
	}
	return fmt.Sprintf("%s:%d", file, s.Line)
}

// evidence is what a line says, and where.
func (l *line) evidence() string {
	if l.place == "" {
		return escape.Printable(l.text)
	}
	return escape.Printable(l.text + ", at " + l.place)
}

// markdownEvidence is that in Markdown, with the lines of source that got dearer
// below.
func (l *line) markdownEvidence() string {
	var b strings.Builder
	b.WriteString(escape.Markdown(l.text))
	if l.place != "" {
		b.WriteString(", at " + escape.MarkdownCode(l.place))
	}
	b.WriteString("\n")
	for i := range l.dearest {
		d := &l.dearest[i]
		fmt.Fprintf(&b, "  - %s: %s", escape.MarkdownCode(LinePlace(d)), escape.Markdown(LineChange(d)))
		if source := lineSource(d); source != "" {
			b.WriteString(": " + escape.MarkdownCode(source))
		}
		b.WriteString("\n")
	}
	return b.String()
}
