package compare

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/org/ebpf-bench-action/internal/report/grid"
	"github.com/org/ebpf-bench-action/internal/report/reporttest"
)

func TestText(t *testing.T) {
	for name, m := range models() {
		out := reporttest.Golden(t, name+".txt.golden", func(w io.Writer) error { return Text(w, m) })
		if strings.ContainsAny(out, "\x1b\u202e") {
			t.Errorf("%s: escape sequences without Color", name)
		}
		if !utf8.ValidString(out) {
			t.Errorf("%s is not UTF-8", name)
		}
	}
}

func TestTextInColor(t *testing.T) {
	m := New(timedComparison())
	m.Color = true
	var b bytes.Buffer
	if err := Text(&b, m); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\x1b[31mregression\x1b[0m", "\x1b[32mimprovement\x1b[0m", "\x1b[33minconclusive\x1b[0m", "\x1b[31mfailed\x1b[0m", "  pass\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing", want)
		}
	}
}

// No line is wider than the terminal, unless a name is.
func TestTextFitsTheTerminal(t *testing.T) {
	for _, columns := range []int{40, 80, 100} {
		for name, m := range models() {
			if name == "hostile" {
				continue // its names are wider
			}
			m.Columns = columns
			var b bytes.Buffer
			if err := Text(&b, m); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(b.String()) {
				if grid.Width(line) > columns {
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
	m := New(timedComparison())
	m.Columns = 80
	reporttest.Golden(t, "narrow.txt.golden", func(w io.Writer) error { return Text(w, m) })
	m = kernelsComparison()
	m.Columns = 60
	reporttest.Golden(t, "narrow_kernels.txt.golden", func(w io.Writer) error { return Text(w, m) })
}

func TestTextShowsAllWhenVerbose(t *testing.T) {
	m := New(manyComparison(1000))
	m.Verbose = true
	var b bytes.Buffer
	if err := Text(&b, m); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "\nxdp/"); n != 2000 {
		t.Errorf("%d lines on benchmarks, want a row and a reason of each of 1000", n)
	}
}

func BenchmarkText(b *testing.B) {
	m := New(manyComparison(2000))
	for b.Loop() {
		if err := Text(&bytes.Buffer{}, m); err != nil {
			b.Fatal(err)
		}
	}
}
