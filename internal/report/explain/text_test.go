package explain

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape/escapetest"
	"github.com/org/ebpf-bench-action/internal/report/grid"
	"github.com/org/ebpf-bench-action/internal/report/reporttest"
)

func explainText(t *testing.T, m *Model) string {
	t.Helper()
	var b bytes.Buffer
	if err := Text(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestText(t *testing.T) {
	asm := New(twoSided())
	asm.Asm = true
	oneAsm := New(oneSided())
	oneAsm.Asm, oneAsm.ByFile, oneAsm.All, oneAsm.Columns = true, true, true, 100
	narrow := New(oneSided())
	narrow.Columns = 40
	wide := New(oneSided())
	wide.Columns = 80
	asm80 := New(twoSided())
	asm80.Asm, asm80.Columns = true, 80
	asm50 := New(twoSided())
	asm50.Asm, asm50.Columns = true, 50
	everything := New(twoSided())
	everything.All, everything.ByFile = true, true
	for name, m := range map[string]*Model{
		"one": New(oneSided()), "two": New(twoSided()), "two_asm": asm, "one_asm": oneAsm,
		"narrow": narrow, "two_all": everything, "many": New(manyExplained()),
		"chance": New(chanceExplained()), "wide": wide, "asm_80": asm80, "asm_50": asm50,
	} {
		t.Run(name, func(t *testing.T) {
			out := reporttest.Golden(t, name+".txt.golden", func(w io.Writer) error { return Text(w, m) })
			for line := range strings.Lines(out) {
				line = strings.TrimSuffix(line, "\n")
				if n := text.StringWidthWithoutEscSequences(line); n > max(m.columns(), grid.TextWidth) {
					t.Errorf("%d columns: %s", n, line)
				}
				if strings.TrimRight(line, " ") != line {
					t.Errorf("blanks at the end of %q", line)
				}
			}
		})
	}
}

// Piped output is not cut.
func TestTextWhole(t *testing.T) {
	e := oneSided()
	long := "if (" + strings.Repeat("x && ", 100) + "y)"
	e.Programs[0].Lines[0].Text = long
	m := New(e)
	if out := explainText(t, m); !strings.Contains(out, long+"\n") {
		t.Errorf("the line is cut in\n%s", out)
	}
	m.Columns = 80
	if out := explainText(t, m); strings.Contains(out, long) {
		t.Errorf("the line is not cut in\n%s", out)
	}
}

// A difference no larger than between runs of one side is not a verdict.
func TestTextChance(t *testing.T) {
	m := New(chanceExplained())
	m.Color = true
	out := explainText(t, m)
	for _, want := range []string{"~225 (25 to 425) → ~193 (29 to 429) BPF instructions a run (~)", " ~-36 ", "\x1b[31m+4\x1b[0m"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// The first functions of two programs share a row, under both names.
func TestTextOfTwoPrograms(t *testing.T) {
	if out := explainText(t, New(twoSided())); !strings.Contains(out, "fun_xdp_fibonacci_slow → fun_xdp_fibonacci  772.58") {
		t.Error(out)
	}
}

// What several kernels agree on appears once.
func TestTextOfKernels(t *testing.T) {
	a, b := twoSided(), twoSided()
	b.Testbed.Kernel = "6.1.0"
	b.Programs[1].Base.PerRun = 7
	reporttest.Golden(t, "kernels.txt.golden", func(w io.Writer) error { return Text(w, New(a, b)) })
}

func TestTextColor(t *testing.T) {
	m := New(twoSided())
	plain := explainText(t, m)
	m.Color = true
	if out := explainText(t, m); strings.Contains(plain, "\x1b") || !strings.Contains(out, "\x1b[32m-427.5\x1b[0m") {
		t.Errorf("escape sequences: %q", out)
	}
}

// If stderr says why a benchmark failed, the text does not.
func TestTextExplained(t *testing.T) {
	m := New(oneSided())
	m.Explained = true
	if out := explainText(t, m); strings.Contains(out, "invalid access") || !strings.Contains(out, "1 failed") {
		t.Error(out)
	}
}

func TestTextHostile(t *testing.T) {
	for _, attack := range append(escapetest.Names(300), escapetest.Attacks...) {
		for _, asm := range []bool{false, true} {
			m := New(hostileExplanation(attack))
			m.Asm = asm
			out := explainText(t, m)
			reporttest.Printable(t, out)
			if t.Failed() {
				t.Fatalf("with %q", attack)
			}
		}
	}
}

// Anything that a decoder accepts can be rendered.
func TestNothing(t *testing.T) {
	for _, e := range []*bench.Explanation{
		{}, {Programs: []bench.Explained{{Benchmark: "a", Error: "x"}}},
		{Programs: []bench.Explained{{Benchmark: "a", Head: &bench.ExplainedSide{}}}},
		{Programs: []bench.Explained{{Benchmark: "a", Base: &bench.ExplainedSide{}, Head: &bench.ExplainedSide{}, Lines: []bench.Line{{Head: &bench.Executed{}}, {Base: &bench.Executed{PerRun: 1}}}}}},
	} {
		for name, render := range explainRenderers {
			if err := render(&bytes.Buffer{}, New(e)); err != nil && !errors.Is(err, errNoLines) {
				t.Errorf("%s of %+v: %v", name, e, err)
			}
		}
	}
	if err := Text(&bytes.Buffer{}, New()); err != nil {
		t.Error(err)
	}
}

// explainRenderers are all renderers, by their formats.
var explainRenderers = map[string]func(io.Writer, *Model) error{
	"text": Text, "json": JSON, "html": HTML, "lcov": LCOV, "pprof": Pprof,
	"markdown": func(w io.Writer, m *Model) error { return Markdown(w, m, 0) },
}
