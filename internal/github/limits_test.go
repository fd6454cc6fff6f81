package github

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

const more = "The full report is in the [summary](https://github.com/o/r/actions/runs/1)."

// longReport returns a document with everything that can be cut badly.
func longReport(rows int) string {
	var b strings.Builder
	b.WriteString("## Slower\n\n| benchmark | delta |\n| --- | --: |\n")
	for i := range rows {
		fmt.Fprintf(&b, "| `é%d` | +%d%% |\n", i, i)
	}
	b.WriteString("\n<details><summary>others</summary>\n\n| benchmark | delta |\n| --- | --: |\n")
	for i := range rows {
		fmt.Fprintf(&b, "| `日本%d` | +%d%% |\n", i, i)
	}
	b.WriteString("\n```text\n")
	for i := range rows {
		fmt.Fprintf(&b, "%d: (b7) r0 = 2\n", i)
	}
	b.WriteString("```\n\n</details>\n\nThe end.\n")
	return b.String()
}

func TestACutTextIsWholeAtEveryLimit(t *testing.T) {
	source := longReport(8)
	for limit := range len(source) + 1 {
		checkCut(t, source, limit)
	}
}

func checkCut(t *testing.T, source string, limit int) {
	t.Helper()
	got := Cut(source, limit, more)
	switch {
	case len(got) > limit:
		t.Fatalf("limit %d: %d bytes", limit, len(got))
	case !utf8.ValidString(got):
		t.Fatalf("limit %d: cut in a character: %q", limit, got)
	case len(source) <= limit && utf8.ValidString(source):
		if got != source {
			t.Fatalf("limit %d: what fits was changed", limit)
		}
		return
	case got == "":
		if limit > len(more)+100 {
			t.Fatalf("limit %d: nothing is left", limit)
		}
		return
	case len(source) > limit && !strings.HasSuffix(got, more+"\n"):
		t.Fatalf("limit %d: no last line: %q", limit, got)
	}
}

func TestWhatIsCutStillReads(t *testing.T) {
	source := longReport(8)
	for limit := len(more) + 20; limit < len(source); limit++ {
		got := Cut(source, limit, more)
		lines := strings.Split(got, "\n")
		if n := strings.Count(got, "<details>"); n != strings.Count(got, "</details>") {
			t.Fatalf("limit %d: a part stays open:\n%s", limit, got)
		}
		for _, line := range lines {
			if line != "" && !strings.Contains(source+more, line+"\n") && line != more {
				t.Fatalf("limit %d: part of a line: %q", limit, line)
			}
		}
		root := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader([]byte(got)))
		for n := root.FirstChild(); n != nil; n = n.NextSibling() {
			if n.Kind() == east.KindTable && n.ChildCount() < 2 {
				t.Fatalf("limit %d: a table of nothing:\n%s", limit, got)
			}
		}
		if last := root.LastChild(); last.Kind() != ast.KindParagraph || last.FirstChild().NextSibling().Kind() != ast.KindLink {
			t.Fatalf("limit %d: the last line is not a paragraph:\n%s", limit, got)
		}
	}
}

func TestNothingIsCutWithoutNeed(t *testing.T) {
	source := longReport(2000)
	for _, limit := range []int{MaxComment, MaxCheckSummary} {
		// No row and no line of a log is longer than 30 bytes.
		if got := Cut(source, limit, more); limit-len(got) > 30 {
			t.Errorf("%d bytes of %d", len(got), limit)
		}
	}
}

// A report that is one collapsed code block, as for a run without a base, is cut inside
// that block.
func TestALongBlockIsCutAtALine(t *testing.T) {
	var b strings.Builder
	b.WriteString("## Measured\n\n<details><summary>16000 benchmarks</summary>\n\n````text\n")
	for i := range 16_000 {
		fmt.Fprintf(&b, "%05d ```\n", i)
	}
	b.WriteString("````\n\n</details>\n")
	got := Cut(b.String(), MaxComment, more)
	if MaxComment-len(got) > 30 || !strings.HasSuffix(got, " ```\n````\n\n</details>\n\n"+more+"\n") {
		t.Errorf("%d bytes of %d, and ends with %q", len(got), MaxComment, got[len(got)-200:])
	}
	// None of its lines fits.
	short := Cut(b.String(), len("## Measured\n\n<details><summary>16000 benchmarks</summary>\n\n\n</details>\n")+len(more)+12, more)
	if strings.Contains(short, "````") || strings.Count(short, "details>") != 2 {
		t.Errorf("an empty block: %q", short)
	}
}

func FuzzCut(f *testing.F) {
	f.Add(longReport(3), 200)
	f.Add("```\n````\n```\n", 5)
	f.Add("\xff\xff\xff", 3)
	f.Fuzz(func(t *testing.T, s string, limit int) {
		if limit < 0 || limit > 1<<20 {
			return
		}
		got := Cut(s, limit, more)
		if len(got) > limit || !utf8.ValidString(got) {
			t.Errorf("%d bytes of %d: %q", len(got), limit, got)
		}
	})
}
