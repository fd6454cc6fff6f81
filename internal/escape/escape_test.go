package escape

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"

	"github.com/org/ebpf-bench-action/internal/escape/escapetest"
)

func checkLogs(t *testing.T, name string) {
	t.Helper()
	line := Printable(name)
	if strings.ContainsAny(line, "\r\n") {
		t.Errorf("%q has several lines", line)
	}
	escapetest.CheckLog(t, line)
	escapetest.CheckLog(t, LogText(name))
	var b bytes.Buffer
	w := NewLogWriter(&b)
	// Write it in two pieces, as a program may.
	fmt.Fprint(w, name[:len(name)/2])
	fmt.Fprint(w, name[len(name)/2:])
	w.Close()
	escapetest.CheckLog(t, b.String())
}

// document returns Markdown as in a comment, with names in each place.
func document(name, log string) string {
	return "# Title\n\n" + cmp.Or(MarkdownLine(name), "x") + "<br>\nby " + MarkdownCode(name) + "\n\n" +
		"| a | b | c |\n| --- | --: | --- |\n| " + MarkdownCode(name) + " | 1 | " + Markdown(name) + " |\n\n" +
		"- " + MarkdownCode(name) + ": text " + Markdown(name) + "\n\n" +
		"<details><summary>7 warnings</summary>\n\n" + MarkdownFence(log) + "\n</details>\n"
}

// inDocument counts the kinds of nodes in a document.
var inDocument = map[ast.NodeKind]int{
	ast.KindDocument: 1, ast.KindHeading: 1, ast.KindParagraph: 1, ast.KindList: 1, ast.KindListItem: 1, ast.KindTextBlock: 1,
	ast.KindHTMLBlock: 2, ast.KindFencedCodeBlock: 1,
	east.KindTable: 1, east.KindTableHeader: 1, east.KindTableRow: 1, east.KindTableCell: 6,
}

// checkMarkdown checks that GitHub recognizes only the structure of the document, and
// names only as code or as plain text.
func checkMarkdown(t *testing.T, name string) {
	t.Helper()
	source := []byte(document(name, name))
	root := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
	counts := map[ast.NodeKind]int{}
	err := ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			return ast.WalkContinue, nil
		case *ast.CodeSpan:
			if got := spanText(n, source); got != meant(name, MaxName) && !strings.Contains(meant(name, MaxSentence), got) {
				t.Errorf("%q became the code %q", name, got)
			}
			return ast.WalkContinue, nil
		case *ast.RawHTML:
			checkTag(t, name, n, source)
			return ast.WalkContinue, nil
		case *ast.FencedCodeBlock:
			if got := string(n.Lines().Value(source)); got != inFence(name) {
				t.Errorf("%q became the block %q", name, got)
			}
		}
		counts[n.Kind()]++
		return ast.WalkContinue, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(counts) != fmt.Sprint(inDocument) {
		t.Errorf("%q became %v, want %v, in\n%s", name, counts, inDocument, source)
	}
	for _, s := range []string{Markdown(name), MarkdownLine(name)} {
		if strings.ContainsAny(asCode.ReplaceAllString(s, ""), "@#<>&[]!*_~`|\\$^\"'") {
			t.Errorf("%q became the text %q", name, s)
		}
	}
}

// asCode matches what is code.
var asCode = regexp.MustCompile("`[^`]*`|<code>[^<]*</code>")

// meant returns what a reader should see of a name.
func meant(name string, most int) string {
	return Clip(strings.TrimSpace(Printable(name)), most)
}

func spanText(n ast.Node, source []byte) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		b.Write(c.(*ast.Text).Value(source))
	}
	return b.String()
}

// checkTag checks that the only tags are for code and line breaks, and that there is only
// text between the tags for code.
func checkTag(t *testing.T, name string, n *ast.RawHTML, source []byte) {
	t.Helper()
	switch tag := string(n.Segments.Value(source)); tag {
	case "<br>", "</code>":
	case "<code>":
		var b strings.Builder
		next := n.NextSibling()
		for ; next != nil && next.Kind() == ast.KindText; next = next.NextSibling() {
			b.Write(next.(*ast.Text).Value(source))
		}
		content := b.String()
		if next == nil || next.Kind() != ast.KindRawHTML || strings.ContainsAny(content, "@:/[]()!`*_<>|") {
			t.Errorf("%q became the HTML %q", name, content)
		}
		if got := html.UnescapeString(content); got != meant(name, MaxName) && !strings.Contains(meant(name, MaxSentence), got) {
			t.Errorf("%q became the code %q", name, got)
		}
	default:
		t.Errorf("%q became the tag %s", name, tag)
	}
}

func inFence(s string) string {
	_, body, _ := strings.Cut(MarkdownFence(s), "\n")
	return body[:strings.LastIndex(strings.TrimSuffix(body, "\n"), "\n")+1]
}

// checkOutput checks that the runner reads exactly the intended value.
func checkOutput(t *testing.T, value string) {
	t.Helper()
	const end = "ebpf-bench-4711"
	out, err := Output("verdict", value, end)
	if refused := strings.Contains(value, end) || strings.Contains(value, "\x00"); refused != (err != nil) {
		t.Fatalf("%q: %v", value, err)
	}
	if err != nil {
		return
	}
	head, rest, _ := strings.Cut(out, "\n")
	got, after, ok := strings.Cut(rest, "\n"+end+"\n")
	if head != "verdict<<"+end || got != value || after != "" || !ok {
		t.Errorf("%q became %q", value, out)
	}
}

func TestTenThousandHostileNames(t *testing.T) {
	for _, name := range append(escapetest.Names(10_000), escapetest.Attacks...) {
		checkLogs(t, name)
		checkMarkdown(t, name)
		checkOutput(t, name)
		if t.Failed() {
			t.Fatalf("with the name %q", name)
		}
	}
}

// The checks must detect attacks.
func TestTheChecksSeeAttacks(t *testing.T) {
	for _, line := range []string{"::error::x", " \t::error file=x::y", "\u00a0::a::", "a ##[error]x"} {
		if escapetest.CommandOf(line) == "" {
			t.Errorf("%q is not a command", line)
		}
	}
	for _, source := range []string{"[x](http://e)", "<b>", "www.e.com", "![x](y)", "`a` | `b"} {
		root := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader([]byte(source)))
		if p := root.FirstChild(); p.ChildCount() == 1 && p.FirstChild().Kind() == ast.KindText {
			t.Errorf("%q is plain", source)
		}
	}
}

func TestHonestNamesStay(t *testing.T) {
	for _, name := range []string{"fun_xdp/basic", "xdp [64B]", "été 日本語", "a::b", "p99 <1%"} {
		if got := Printable(name); got != name {
			t.Errorf("%q became %q", name, got)
		}
		if got := MarkdownCode(name); got != "`"+name+"`" {
			t.Errorf("%q became %s", name, got)
		}
	}
	const log = "0: (b7) r0 = 2\n1: (95) exit\n"
	if got := MarkdownFence(log); got != "```text\n"+log+"```\n" {
		t.Errorf("a log became %s", got)
	}
	if got := LogText(log); got != log {
		t.Errorf("a log became %s", got)
	}
}

func TestMarkdown(t *testing.T) {
	for text, want := range map[string]string{
		"+5.2% (+0.80 ns), p 0.0001": "+5.2% (+0.80 ns), p 0.0001",
		"1. a":                       "`1.` a",
		"12) a":                      "`12)` a",
		"- a":                        "`-` a",
		"+ a":                        "`+` a",
		"at a_b.c:12, of _x_: y":     "at `a_b.c:12`, of `_x_`: y",
		"\u0301 - a":                 "`-` a",
		"-":                          "-",
		"-5.2%, +1":                  "-5.2%, +1",
		"6.12 a":                     "6.12 a",
		":tada:":                     "`:tada:`",
		"a:+1:b":                     "`a:+1:b`",
		"a: b: c":                    "a: b: c",
		"x::y":                       "x::y",
		"of 0123456789abcdef0123456789ABCDEF01234567": "of `0123456789abcdef0123456789ABCDEF01234567`",
		"of 0123456789ab": "of 0123456789ab",
		"@org/team":       "`@org/team`",
		"a | b":           "a <code>&#124;</code> b",
		"a`b":             "<code>a&#96;b</code>",
		`a\`:              "<code>a&#92;</code>",
		"<b>":             "`<b>`",
		"see #12":         "see `#12`",
		"www.example.com": "`www.example.com`",
		"http://x":        "`http://x`",
		"GH-12":           "`GH-12`",
		"_a_":             "`_a_`",
		"a\nb":            "a b",
		"\x1b[31m":        "`\uFFFD[31m`",
	} {
		if got := Markdown(text); got != want {
			t.Errorf("Markdown(%q) = %q, want %q", text, got, want)
		}
	}
	for name, want := range map[string]string{"xdp/a": "`xdp/a`", "": "-", " ": "-", "\u0301": "-", strings.Repeat("ä", 500): "`" + strings.Repeat("ä", MaxName-1) + "…`"} {
		if got := MarkdownCode(name); got != want {
			t.Errorf("MarkdownCode(%q) = %q, want %q", name, got, want)
		}
	}
}

// The beginning of a line can make a list or a heading.
func TestMarkdownLine(t *testing.T) {
	for text, want := range map[string]string{
		"Linux 6.12, 2 cores": "Linux 6.12, 2 cores",
		"6.12 and 5.10":       "6.12 and 5.10",
		"1. a":                "`1.` a",
		"12) a":               "`12)` a",
		"1.":                  "`1.`",
		"- a":                 "`-` a",
		"+ a":                 "`+` a",
		"---":                 "`---`",
		"===":                 "`===`",
	} {
		if got := MarkdownLine(text); got != want {
			t.Errorf("MarkdownLine(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestOutputRefuses(t *testing.T) {
	for _, value := range []string{"END", "a\nEND\nb=c", "xENDx"} {
		if _, err := Output("a", value, "END"); !errors.Is(err, ErrDelimiter) {
			t.Errorf("%q: %v", value, err)
		}
	}
	for _, name := range []string{"", "a b", "a=b", "a\nb", "a<<b", "1", "é"} {
		if _, err := Output(name, "", "END"); err == nil {
			t.Errorf("the name %q is taken", name)
		}
	}
}

func TestALogWriterKeepsLines(t *testing.T) {
	var b bytes.Buffer
	w := NewLogWriter(&b)
	for _, s := range []string{"one\ntw", "o\n", ":", ":error::x\n", strings.Repeat("y", maxLogLine+3), "\nlast"} {
		if n, err := w.Write([]byte(s)); n != len(s) || err != nil {
			t.Fatal(n, err)
		}
	}
	w.Close()
	w.Close()
	want := "one\ntwo\n: :error::x\n" + strings.Repeat("y", maxLogLine) + "\nyyy\nlast\n"
	if b.String() != want {
		t.Errorf("wrote %q", b.String())
	}
}

func FuzzLog(f *testing.F)      { escapetest.Fuzz(f, checkLogs) }
func FuzzMarkdown(f *testing.F) { escapetest.Fuzz(f, checkMarkdown) }
func FuzzOutput(f *testing.F)   { escapetest.Fuzz(f, checkOutput) }
