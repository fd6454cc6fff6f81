package report

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/report/grid"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// MaxDearest is how many lines a regression names.
const MaxDearest = 3

// DearestLines returns the lines of a pair where the head executes more than
// the base, the largest growth first, at most three.
func DearestLines(p *bench.Pair) []bench.Line {
	grown := slices.DeleteFunc(slices.Clone(p.Lines), func(l bench.Line) bool { return l.Delta() <= 0 })
	slices.SortStableFunc(grown, func(a, b bench.Line) int { return cmp.Compare(b.Delta(), a.Delta()) })
	return grown[:min(len(grown), MaxDearest)]
}

// LineChange formats the change of a line: 2 → 19 BPF instructions a run (+17).
func LineChange(l *bench.Line) string {
	per := "a run"
	if l.Later != "" {
		per = "a call, by a " + escape.Printable(l.Later) + " after the run"
	}
	return unit.Mean(PerRun(l.Base)) + " → " + unit.Mean(PerRun(l.Head)) + " BPF instructions " + per + " (" + MoreInsns(l.Delta()) + ")"
}

// LineText formats a line with its place, its change and its source, as one
// line of a terminal with this many columns; 0 means any number:
//
//	fun_xdp.c:41  2 → 19 BPF instructions a run (+17)  while (n--)
func LineText(l *bench.Line, columns int) string {
	parts := []string{escape.Printable(LinePlace(l)), LineChange(l)}
	if source := LineSource(l); source != "" {
		parts = append(parts, source)
	}
	return grid.Snip(strings.Join(parts, "  "), columns)
}

// LineSource returns the source of a line without its indentation.
func LineSource(l *bench.Line) string { return escape.Printable(strings.TrimSpace(l.Text)) }

// LinePlace returns the place of a line: fun_xdp.c:41, or the function and the
// instruction, fibonacci+12, if no source is known.
func LinePlace(l *bench.Line) string {
	if s := l.Source(); s != nil {
		return SourcePlace(s)
	}
	return OffsetPlace(l)
}

// OffsetPlace returns the place of an instruction in its function.
func OffsetPlace(l *bench.Line) string {
	place := fmt.Sprintf("%s+%d", cmp.Or(l.Function, l.Program, "?"), l.InFunction)
	if l.InFunctionEnd > l.InFunction {
		place += fmt.Sprintf("-%d", l.InFunctionEnd)
	}
	return place
}

// SourcePlace returns text such as bpf/filter.c:41. Absolute paths tell nobody
// else anything, nor do paths that are cut, so it shortens both to the file
// name.
func SourcePlace(s *bench.Source) string {
	file := s.File
	if path.IsAbs(file) || len(file) > escape.MaxName/2 {
		file = path.Base(file)
	}
	return fmt.Sprintf("%s:%d", file, s.Line)
}
