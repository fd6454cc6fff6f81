package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape"
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

// LinePlace is where a line is: fun_xdp.c:41, or the function and the instruction,
// fibonacci+12, where no source is known.
func LinePlace(l *bench.Line) string { return linePlace(l) }

// LineChange is what became of a line: 2 → 19 BPF instructions a run (+17).
func LineChange(l *bench.Line) string {
	return unit.Mean(perRun(l.Base)) + " → " + unit.Mean(perRun(l.Head)) + " BPF instructions a run (" + moreInsns(l.Delta()) + ")"
}

// LineText is a line with its place, its change and its source, as one line of a
// terminal that has so many columns, 0 for any number:
//
//	fun_xdp.c:41  2 → 19 BPF instructions a run (+17)  while (n--)
func LineText(l *bench.Line, columns int) string {
	parts := []string{escape.Printable(LinePlace(l)), LineChange(l)}
	if source := lineSource(l); source != "" {
		parts = append(parts, source)
	}
	return snip(strings.Join(parts, "  "), columns)
}

// lineSource is the source of a line without its indentation.
func lineSource(l *bench.Line) string { return escape.Printable(strings.TrimSpace(l.Text)) }
