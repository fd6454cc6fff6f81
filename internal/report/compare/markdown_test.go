package compare

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/report/reporttest"
	"github.com/org/ebpf-bench-action/thresholds"
)

func TestMarkdown(t *testing.T) {
	for name, m := range models() {
		m.Color = true
		out := reporttest.Golden(t, name+".md.golden", func(w io.Writer) error { return Markdown(w, m, 0) })
		if strings.ContainsAny(out, "\x1b\u202e") || !utf8.ValidString(out) {
			t.Errorf("%s is not printable", name)
		}
		checkTables(t, name, out)
	}
}

// A benchmark that is gone is none that did not regress.
func TestRemovedInTheTitle(t *testing.T) {
	for severity, want := range map[thresholds.Severity]string{
		thresholds.Fail: "## ❌ 1 of 3 benchmarks removed\n", thresholds.Warn: "## ⚠️ No regression in 2 benchmarks, 1 removed\n", thresholds.Ignore: "## ✅ No regression in 2 benchmarks, 1 removed\n",
	} {
		table := exactComparison("6.12", 0)
		old := pairOf("old", bench.Instructions, 7, 0)
		old.Head = nil
		table.Pairs = append(table.Pairs, old)
		for _, m := range []bench.Measure{bench.Instructions, bench.XlatedBytes} {
			table.Verdicts.All = append(table.Verdicts.All, thresholds.Verdict{Benchmark: "old", Measure: m, Outcome: thresholds.Removed, Severity: severity, Why: "gone"})
		}
		var b strings.Builder
		if err := Markdown(&b, New(table), 0); err != nil || !strings.HasPrefix(b.String(), want) || !strings.Contains(b.String(), "\n2 unchanged, 1 removed\n") && !strings.Contains(b.String(), "\n1 removed, 2 unchanged\n") {
			t.Errorf("%s: %v, want %q in\n%s", severity, err, want, b.String())
		}
	}
}

// What got slower under a new name is only a warning, but no pass.
func TestRenamedInTheTitle(t *testing.T) {
	table := exactComparison("6.12", 40)
	table.Pairs[1].LooksLike, table.Verdicts.All[3].Severity = "old", thresholds.Warn
	var b strings.Builder
	if err := Markdown(&b, New(table), 0); err != nil || !strings.HasPrefix(b.String(), "## ⚠️ No regression in 1 benchmark, 1 renamed and slower\n") || !strings.Contains(b.String(), "| `xdp/slow`, compared with `old` | ") {
		t.Errorf("%v:\n%s", err, b.String())
	}
}

// checkTables checks that every row of a table has as many cells as its header.
func checkTables(t *testing.T, name, text string) {
	t.Helper()
	cells := 0
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "|") {
			cells = 0
			continue
		}
		n := strings.Count(line, "|")
		if cells != 0 && n != cells {
			t.Errorf("%s: %d cells, the header has %d: %s", name, n-1, cells-1, line)
		}
		cells = n
	}
}

func TestMarkdownFits(t *testing.T) {
	for name, m := range models() {
		var whole bytes.Buffer
		if err := Markdown(&whole, m, 0); err != nil {
			t.Fatal(err)
		}
		full := strings.SplitAfter(whole.String(), "\n")
		for limit := 1; limit <= whole.Len()+1; limit += 1 + whole.Len()*whole.Len()/2_000_000 {
			var b bytes.Buffer
			if err := Markdown(&b, m, limit); err != nil {
				t.Fatal(err)
			}
			out := b.String()
			if len(out) > limit || !utf8.ValidString(out) {
				t.Fatalf("%s: %d bytes, limit %d, or no UTF-8", name, len(out), limit)
			}
			if strings.Count(out, "<details>") != strings.Count(out, "</details>") {
				t.Fatalf("%s: a part is left open at %d:\n%s", name, limit, out)
			}
			checkWholeLines(t, full, out, limit)
		}
		var b bytes.Buffer
		if err := Markdown(&b, m, whole.Len()); err != nil || b.String() != whole.String() {
			t.Errorf("%s is cut though it fits: %v", name, err)
		}
	}
}

// checkWholeLines checks that cuts are only between lines.
func checkWholeLines(t *testing.T, full []string, out string, limit int) {
	t.Helper()
	at := 0
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "Too long") || line == "\n" || line == "</details>\n" {
			continue
		}
		for at < len(full) && full[at] != line {
			at++
		}
		if at == len(full) {
			t.Fatalf("at %d, %q is not a line of the whole report", limit, line)
		}
	}
}

func TestMarkdownCountsWhatIsLeftOut(t *testing.T) {
	m := New(manyComparison(1000))
	var b bytes.Buffer
	if err := Markdown(&b, m, 20_000); err != nil {
		t.Fatal(err)
	}
	out := b.String()
	rows := strings.Count(out, "| pass |")
	want := fmt.Sprintf("left out: %d other benchmarks, 1 legend.\n", 990-rows)
	if rows == 0 || !strings.HasSuffix(out, want) {
		t.Errorf("%d rows, and the end is %q, want %q", rows, out[len(out)-100:], want)
	}
}

// A title says how many benchmarks there was nothing to compare of.
func TestHeadingOfWhatIsIdentical(t *testing.T) {
	for _, test := range []struct {
		first, second bool
		outcome       thresholds.Outcome
		want, tally   string
	}{
		{false, false, thresholds.Pass, "No regression in 2 benchmarks", "2 unchanged"},
		{false, true, thresholds.Pass, "No regression in 2 benchmarks, 1 identical", "1 unchanged, 1 identical"},
		{true, true, thresholds.Pass, "No regression in 2 benchmarks, all identical", "2 identical"},
		{true, true, thresholds.OverBudget, "1 of 2 benchmarks over budget", "1 over budget, 1 identical"},
	} {
		one, two := pairOf("one", bench.Instructions, 1, 1), pairOf("two", bench.Instructions, 1, 1)
		one.Identical, two.Identical = test.first, test.second
		first, second := counted("one", bench.Instructions, test.outcome, thresholds.Fail, 1, 1, ""), counted("two", bench.Instructions, thresholds.Pass, thresholds.Fail, 1, 1, "")
		first.Identical, second.Identical = test.first, test.second
		d := Document(New(Table{Comparison: &bench.Comparison{Pairs: []bench.Pair{one, two}}, Verdicts: &thresholds.Verdicts{All: []thresholds.Verdict{first, second}}}))
		if d.Title.Text != test.want || d.Paragraphs[0] != test.tally {
			t.Errorf("%q, %q, want %q, %q", d.Title.Text, d.Paragraphs[0], test.want, test.tally)
		}
	}
}

// What was not compared is in the title.
func TestHeadingOfDoubts(t *testing.T) {
	for _, test := range []struct {
		first, second string // their doubts
		outcome       thresholds.Outcome
		want          string
	}{
		{"", "", thresholds.Pass, "No regression in 2 benchmarks"},
		{"", "the base was not built: x", thresholds.Pass, "No regression in 1 of 2 benchmarks, 1 not compared: the base was not built"},
		{"the head was not built: x", "the base was not built: x", thresholds.Pass, "Not compared: the head was not built"},
		{"", "the base was built at another path: x", thresholds.Pass, "No regression in 1 of 2 benchmarks, 1 not compared: the base was built at another path"},
		{"a stranger's <text>", "another's", thresholds.Pass, "Not compared: it is not known what was built"},
		{"", "the base was not built: x", thresholds.Regression, "Regression in 1 of 2 benchmarks, 1 not compared: the base was not built"},
		{"", "the base was not built: x", thresholds.OverBudget, "1 of 2 benchmarks over budget, 1 not compared: the base was not built"},
		{"", "", thresholds.Improvement, "No regression in 2 benchmarks, 1 improved"},
		{"", "", thresholds.Inconclusive, "No regression in 1 of 2 benchmarks, 1 inconclusive"},
		{"", "the base was not built: x", thresholds.Inconclusive, "Inconclusive: a regression cannot be excluded, 1 not compared: the base was not built"},
	} {
		one, two := pairOf("one", bench.Instructions, 1, 1), pairOf("two", bench.Instructions, 1, 1)
		one.Doubt, two.Doubt = test.first, test.second
		m := New(Table{
			Comparison: &bench.Comparison{Pairs: []bench.Pair{one, two}},
			Verdicts:   &thresholds.Verdicts{All: []thresholds.Verdict{counted("one", bench.Instructions, test.outcome, thresholds.Fail, 1, 1, "")}},
		})
		if got := Document(m).Title.Text; got != test.want {
			t.Errorf("%q and %q: %q, want %q", test.first, test.second, got, test.want)
		}
	}
}
