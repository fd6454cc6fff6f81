package report

import (
	"fmt"
	"path"
	"regexp"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape"
)

// why is the evidence of the verdict. Of what fails it says also where the program
// stands that costs too much.
func (f *finding) why() string {
	s := f.standing()
	if f.row.Head == nil || f.row.Head.Source == nil || s != regressed && s != overBudget {
		return f.verdict.Why
	}
	return f.verdict.Why + ", at " + sourcePlace(f.row.Head.Source)
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

// markdownEvidence is the evidence of a line. What it ends with is code if it is
// the place of a program, so that the rest need not be for the sake of it.
func markdownEvidence(text string) string {
	m := placed.FindStringSubmatch(text)
	if m == nil {
		return escape.Markdown(text)
	}
	return escape.Markdown(m[1]) + ", at " + escape.MarkdownCode(m[2])
}

var placed = regexp.MustCompile(`(?s)^(.*), at (.+:\d+)$`)
