package grid

import (
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/escape/escapetest"
	"github.com/org/ebpf-bench-action/internal/report/reporttest"
)

func sample() *Grid {
	g := new(Grid).Left("name").Spare("driver").Right("base").Right("none").If(false).Left("verdict")
	g.Row(Name("xdp/basic"), Word("test_run"), Figure("17 ns"), Figure("x"), Figure("pass"))
	g.Row(Name("a|b"), nil, Figure("1,240 ns"), nil, Figure("regression").Paint(Red).And(Figure("!").Paint(Bold)))
	return g
}

// The narrower a terminal is, the more of the table goes below each name.
func TestTextFits(t *testing.T) {
	for columns, want := range map[int]string{
		0:  "name       driver        base  verdict\nxdp/basic  test_run     17 ns  pass\na|b                  1,240 ns  regression!",
		35: "name           base  verdict\nxdp/basic     17 ns  pass\na|b        1,240 ns  regression!",
		24: "name\n      base  verdict\nxdp/basic\n     17 ns  pass\na|b\n  1,240 ns  regression!",
		20: "xdp/basic\n  base     17 ns\n  verdict  pass\na|b\n  base     1,240 ns\n  verdict  regression!",
	} {
		if got := sample().Text(columns, false); got != want {
			t.Errorf("in %d columns:\n%s\nwant\n%s", columns, got, want)
		}
	}
	if got := sample().Text(0, true); !strings.HasSuffix(got, "\x1b[31mregression\x1b[0m\x1b[1m!\x1b[0m") {
		t.Errorf("in color: %q", got)
	}
}

func TestTableOfMarkdown(t *testing.T) {
	d := Document{Title: Heading{Text: "T"}, Paragraphs: []string{"Said."}, Lines: []string{"- a", "b"}, Sections: []Section{sample().Section("row").Behind("Rows")}}
	want := "## T\n\nSaid.\n\n`-` a<br>\nb\n\n<details><summary>Rows</summary>\n\n" +
		"| name | driver | base | verdict |\n| --- | --- | --: | --- |\n| `xdp/basic` | `test_run` | 17 ns | pass |\n" +
		"| <code>a&#124;b</code> |  | 1,240 ns | regression**!** |\n\n</details>\n"
	if got := d.Markdown(0); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := d.Markdown(len(want)); got != want {
		t.Errorf("cut though it fits:\n%s", got)
	}
	if got := d.Markdown(len(want) - 1); len(got) >= len(want) || !strings.HasSuffix(got, "\nToo long for a comment, so left out: 1 row.\n") && !strings.HasSuffix(got, "left out: 2 rows.\n") {
		t.Errorf("%s", got)
	}
	if got := d.Markdown(6); got != "## T\n" {
		t.Errorf("%q", got)
	}
}

// A stranger's text ends no cell, and moves no cursor.
func TestHostileCells(t *testing.T) {
	for _, attack := range append(escapetest.Names(300), escapetest.Attacks...) {
		g := new(Grid).Left(attack, attack).Rest(attack)
		g.Row(Name(attack), Word(attack).And(ShortName(attack, 40)), Word(attack))
		reporttest.Printable(t, g.Text(0, true))
		for _, line := range append(g.Section("row").Rows, g.Section("row").Open) {
			for row := range strings.Lines(strings.TrimPrefix(line, "\n")) {
				if strings.Count(row, "|") != 4 {
					t.Errorf("with %q: %s", attack, row)
				}
			}
		}
	}
}
