package compare

import (
	"fmt"
	"strings"

	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/report"
)

// place is where the program stands that costs too much, empty where that is not
// known or it does not.
func (f *finding) place() string {
	s := f.standing()
	if f.row.Head == nil || f.row.Head.Source == nil || s != regressed && s != overBudget {
		return ""
	}
	return report.SourcePlace(f.row.Head.Source)
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
		fmt.Fprintf(&b, "  - %s: %s", escape.MarkdownCode(report.LinePlace(d)), escape.Markdown(report.LineChange(d)))
		if source := report.LineSource(d); source != "" {
			b.WriteString(": " + escape.MarkdownCode(source))
		}
		b.WriteString("\n")
	}
	return b.String()
}
