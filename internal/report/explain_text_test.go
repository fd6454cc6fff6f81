package report

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape/escapetest"
)

// explainGolden renders an explanation and compares it with a golden file.
func explainGolden(t *testing.T, name string, render func(*bytes.Buffer) error) string {
	t.Helper()
	return golden(t, name, func(_ *Model, w *bytes.Buffer) error { return render(w) }, nil)
}

func explainText(t *testing.T, m *Explanation) string {
	t.Helper()
	var b bytes.Buffer
	if err := ExplainText(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestExplainText(t *testing.T) {
	asm := NewExplanation(twoSided())
	asm.Asm = true
	oneAsm := NewExplanation(oneSided())
	oneAsm.Asm, oneAsm.ByFile, oneAsm.All, oneAsm.Columns = true, true, true, 100
	narrow := NewExplanation(oneSided())
	narrow.Columns = 40
	wide := NewExplanation(oneSided())
	wide.Columns = 80
	asm80 := NewExplanation(twoSided())
	asm80.Asm, asm80.Columns = true, 80
	asm50 := NewExplanation(twoSided())
	asm50.Asm, asm50.Columns = true, 50
	everything := NewExplanation(twoSided())
	everything.All, everything.ByFile = true, true
	for name, m := range map[string]*Explanation{
		"one": NewExplanation(oneSided()), "two": NewExplanation(twoSided()), "two_asm": asm, "one_asm": oneAsm,
		"narrow": narrow, "two_all": everything, "many": NewExplanation(manyExplained()),
		"chance": NewExplanation(chanceExplained()), "wide": wide, "asm_80": asm80, "asm_50": asm50,
	} {
		t.Run(name, func(t *testing.T) {
			out := explainGolden(t, "explain_"+name+".txt.golden", func(w *bytes.Buffer) error { return ExplainText(w, m) })
			for line := range strings.Lines(out) {
				line = strings.TrimSuffix(line, "\n")
				if n := text.StringWidthWithoutEscSequences(line); n > max(m.columns(), textWidth) {
					t.Errorf("%d columns: %s", n, line)
				}
				if strings.TrimRight(line, " ") != line {
					t.Errorf("blanks at the end of %q", line)
				}
			}
		})
	}
}

// What is piped is not cut.
func TestExplainTextWhole(t *testing.T) {
	e := oneSided()
	long := "if (" + strings.Repeat("x && ", 100) + "y)"
	e.Programs[0].Lines[0].Text = long
	m := NewExplanation(e)
	if out := explainText(t, m); !strings.Contains(out, long+"\n") {
		t.Errorf("the line is cut in\n%s", out)
	}
	m.Columns = 80
	if out := explainText(t, m); strings.Contains(out, long) {
		t.Errorf("the line is not cut in\n%s", out)
	}
}

// A difference that is no more than that of runs of one side is no verdict.
func TestExplainTextChance(t *testing.T) {
	m := NewExplanation(chanceExplained())
	m.Color = true
	out := explainText(t, m)
	for _, want := range []string{"~225 (25 to 425) → ~193 (29 to 429) BPF instructions a run (~)", " ~-36 ", "\x1b[31m+4\x1b[0m"} {
		if !strings.Contains(out, want) {
			t.Errorf("there is no %q in\n%s", want, out)
		}
	}
}

// The functions that two programs begin with are beside each other, under both names.
func TestExplainTextOfTwoPrograms(t *testing.T) {
	if out := explainText(t, NewExplanation(twoSided())); !strings.Contains(out, "fun_xdp_fibonacci_slow → fun_xdp_fibonacci  772.58") {
		t.Error(out)
	}
}

// What several kernels say is said once.
func TestExplainTextOfKernels(t *testing.T) {
	a, b := twoSided(), twoSided()
	b.Testbed.Kernel = "6.1.0"
	b.Programs[1].Base.PerRun = 7
	explainGolden(t, "explain_kernels.txt.golden", func(w *bytes.Buffer) error { return ExplainText(w, NewExplanation(a, b)) })
}

func TestExplainTextColor(t *testing.T) {
	m := NewExplanation(twoSided())
	plain := explainText(t, m)
	m.Color = true
	if out := explainText(t, m); strings.Contains(plain, "\x1b") || !strings.Contains(out, "\x1b[32m-427.5\x1b[0m") {
		t.Errorf("escape sequences: %q", out)
	}
}

// Whoever hears on stderr why a benchmark failed need not read it twice.
func TestExplainTextExplained(t *testing.T) {
	m := NewExplanation(oneSided())
	m.Explained = true
	if out := explainText(t, m); strings.Contains(out, "invalid access") || !strings.Contains(out, "1 failed") {
		t.Error(out)
	}
}

func TestExplainTextHostile(t *testing.T) {
	for _, attack := range append(escapetest.Names(300), escapetest.Attacks...) {
		for _, asm := range []bool{false, true} {
			m := NewExplanation(hostileExplanation(attack))
			m.Asm = asm
			out := explainText(t, m)
			checkTerminal(t, out)
			if t.Failed() {
				t.Fatalf("with %q", attack)
			}
		}
	}
}

// Nothing that a decoder takes breaks a renderer.
func TestExplainNothing(t *testing.T) {
	for _, e := range []*bench.Explanation{
		{}, {Programs: []bench.Explained{{Benchmark: "a", Error: "x"}}},
		{Programs: []bench.Explained{{Benchmark: "a", Head: &bench.ExplainedSide{}}}},
		{Programs: []bench.Explained{{Benchmark: "a", Base: &bench.ExplainedSide{}, Head: &bench.ExplainedSide{}, Lines: []bench.Line{{Head: &bench.Executed{}}, {Base: &bench.Executed{PerRun: 1}}}}}},
	} {
		for name, render := range explainRenderers {
			if err := render(&bytes.Buffer{}, NewExplanation(e)); err != nil && !errors.Is(err, errNoLines) {
				t.Errorf("%s of %+v: %v", name, e, err)
			}
		}
	}
	if err := ExplainText(&bytes.Buffer{}, NewExplanation()); err != nil {
		t.Error(err)
	}
}

// checkTerminal checks that a text moves no cursor but to the next line.
func checkTerminal(t *testing.T, s string) {
	t.Helper()
	for _, r := range s {
		if r != '\n' && !unicode.IsPrint(r) {
			t.Errorf("%q reaches the terminal", r)
			return
		}
	}
}

// explainRenderers are all of them, by their formats.
var explainRenderers = map[string]func(io.Writer, *Explanation) error{
	"text": ExplainText, "json": ExplainJSON, "html": ExplainHTML, "lcov": ExplainLCOV, "pprof": ExplainPprof,
	"markdown": func(w io.Writer, m *Explanation) error { return ExplainMarkdown(w, m, 0) },
}
