package report

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCompareText(t *testing.T) {
	for name, m := range models() {
		out := golden(t, "compare_"+name+".txt.golden", func(_ *Model, w *bytes.Buffer) error { return CompareText(w, m) }, nil)
		if strings.ContainsAny(out, "\x1b\u202e") {
			t.Errorf("%s: escape sequences without Color", name)
		}
		if !utf8.ValidString(out) {
			t.Errorf("%s is no UTF-8", name)
		}
	}
}

func TestCompareTextInColor(t *testing.T) {
	m := NewComparison(timedComparison())
	m.Color = true
	var b bytes.Buffer
	if err := CompareText(&b, m); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\x1b[31mregression\x1b[0m", "\x1b[32mimprovement\x1b[0m", "\x1b[33minconclusive\x1b[0m", "\x1b[31mfailed\x1b[0m", "  pass\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing", want)
		}
	}
}

// On a terminal no line is wider than it is, unless a name is.
func TestCompareTextFitsTheTerminal(t *testing.T) {
	for _, columns := range []int{40, 80, 100} {
		for name, m := range models() {
			if name == "hostile" {
				continue // its names are wider
			}
			m.Columns = columns
			var b bytes.Buffer
			if err := CompareText(&b, m); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(b.String()) {
				if Width(line) > columns {
					t.Errorf("%s in %d columns: %s", name, columns, line)
				}
			}
			for _, p := range m.rows() {
				if p.result() != passed && !strings.Contains(b.String(), p.Benchmark) {
					t.Errorf("%s in %d columns: %s is cut", name, columns, p.Benchmark)
				}
			}
		}
	}
	m := NewComparison(timedComparison())
	m.Columns = 80
	golden(t, "compare_narrow.txt.golden", func(_ *Model, w *bytes.Buffer) error { return CompareText(w, m) }, nil)
	m = kernelsComparison()
	m.Columns = 60
	golden(t, "compare_narrow_kernels.txt.golden", func(_ *Model, w *bytes.Buffer) error { return CompareText(w, m) }, nil)
}

func TestCompareTextShowsAllWhenVerbose(t *testing.T) {
	m := NewComparison(manyComparison(1000))
	m.Verbose = true
	var b bytes.Buffer
	if err := CompareText(&b, m); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "\nxdp/"); n != 2000 {
		t.Errorf("%d lines on benchmarks, want a row and a reason of each of 1000", n)
	}
}

func BenchmarkCompareText(b *testing.B) {
	m := NewComparison(manyComparison(2000))
	for b.Loop() {
		if err := CompareText(&bytes.Buffer{}, m); err != nil {
			b.Fatal(err)
		}
	}
}
