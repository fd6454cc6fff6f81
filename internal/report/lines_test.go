package report

import (
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape/escapetest"
	"github.com/org/ebpf-bench-action/internal/report/reporttest"
)

// lineAt returns a line of a program where a run executes this many
// instructions.
func lineAt(number int, text string, base, head float64) bench.Line {
	return bench.Line{
		Program: "fun_xdp_fibonacci", Function: "fun_xdp_fibonacci", File: "fun_xdp.c", Number: number, Offset: number, Text: text,
		Base: &bench.Executed{PerRun: base, Instructions: 1, Times: base}, Head: &bench.Executed{PerRun: head, Instructions: 1, Times: head},
	}
}

func TestDearestLines(t *testing.T) {
	line := func(number int, base, head float64) bench.Line { return lineAt(number, "\tx++;", base, head) }
	added := line(5, 0, 30)
	added.Base = nil
	p := &bench.Pair{Lines: []bench.Line{line(1, 90, 0), line(2, 2, 19), added, line(3, 5, 5), line(4, 1, 1.25), line(6, 1, 3)}}
	var got []int
	for _, l := range DearestLines(p) {
		got = append(got, l.Number)
	}
	if len(got) != 3 || got[0] != 5 || got[1] != 2 || got[2] != 6 {
		t.Errorf("the lines %v", got)
	}
	if p.Lines[0].Number != 1 || len(p.Lines) != 6 {
		t.Error("the pair was changed")
	}
	if got := DearestLines(&bench.Pair{}); len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
}

func TestLineText(t *testing.T) {
	known := lineAt(41, "\t\twhile (n--)", 2, 19)
	absolute := known
	absolute.File = "/builds/team/fun_xdp.c"
	unknown := bench.Line{Program: "fun", Function: "fibonacci", Offset: 40, InFunction: 12, Head: &bench.Executed{PerRun: 4.75}}
	for _, c := range []struct {
		line    bench.Line
		columns int
		want    string
	}{
		{known, 0, "fun_xdp.c:41  2 → 19 BPF instructions a run (+17)  while (n--)"},
		{known, 56, "fun_xdp.c:41  2 → 19 BPF instructions a run (+17)  whil…"},
		{absolute, 0, "fun_xdp.c:41  2 → 19 BPF instructions a run (+17)  while (n--)"},
		{unknown, 0, "fibonacci+12  0 → 4.75 BPF instructions a run (+4.75)"},
	} {
		if got := LineText(&c.line, c.columns); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestLineTextHostile(t *testing.T) {
	for _, attack := range append(escapetest.Names(300), escapetest.Attacks...) {
		l := bench.Line{Program: attack, Function: attack, File: attack, Number: 1, Text: attack, Head: &bench.Executed{PerRun: 1}}
		got := LineText(&l, 100)
		reporttest.Printable(t, got)
		if text.StringWidthWithoutEscSequences(got) > 100 {
			t.Errorf("%q is too wide", got)
		}
	}
}
