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

// dearestLines is how many lines a regression names.
const dearestLines = 3

// DearestLines are the lines of a pair of which the head executes more than the
// base, what grew most first, three at most.
func DearestLines(p *bench.Pair) []bench.Line {
	grown := slices.DeleteFunc(slices.Clone(p.Lines), func(l bench.Line) bool { return l.Delta() <= 0 })
	slices.SortStableFunc(grown, func(a, b bench.Line) int { return cmp.Compare(b.Delta(), a.Delta()) })
	return grown[:min(len(grown), dearestLines)]
}

// LineChange is what became of a line: 2 → 19 BPF instructions a run (+17).
func LineChange(l *bench.Line) string {
	return unit.Mean(PerRun(l.Base)) + " → " + unit.Mean(PerRun(l.Head)) + " BPF instructions a run (" + MoreInsns(l.Delta()) + ")"
}

// LineText is a line with its place, its change and its source, as one line of a
// terminal that has so many columns, 0 for any number:
//
//	fun_xdp.c:41  2 → 19 BPF instructions a run (+17)  while (n--)
func LineText(l *bench.Line, columns int) string {
	parts := []string{escape.Printable(LinePlace(l)), LineChange(l)}
	if source := LineSource(l); source != "" {
		parts = append(parts, source)
	}
	return grid.Snip(strings.Join(parts, "  "), columns)
}

// LineSource is the source of a line without its indentation.
func LineSource(l *bench.Line) string { return escape.Printable(strings.TrimSpace(l.Text)) }

// LinePlace is where a line is: fun_xdp.c:41, or the function and the instruction,
// fibonacci+12, where no source is known.
func LinePlace(l *bench.Line) string {
	if s := l.Source(); s != nil {
		return SourcePlace(s)
	}
	return OffsetPlace(l)
}

// OffsetPlace is an instruction of a program, by the function that it is in.
func OffsetPlace(l *bench.Line) string {
	place := fmt.Sprintf("%s+%d", cmp.Or(l.Function, l.Program, "?"), l.InFunction)
	if l.InFunctionEnd > l.InFunction {
		place += fmt.Sprintf("-%d", l.InFunctionEnd)
	}
	return place
}

// SourcePlace is such as bpf/filter.c:41. Where on a machine the sources were compiled
// tells nobody else anything, nor does a path that is cut.
func SourcePlace(s *bench.Source) string {
	file := s.File
	if path.IsAbs(file) || len(file) > escape.MaxName/2 {
		file = path.Base(file)
	}
	return fmt.Sprintf("%s:%d", file, s.Line)
}
