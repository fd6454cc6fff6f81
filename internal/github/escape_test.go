package github

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

const names = 10_000

// runnerLines are the lines that the runner reads: .NET ends them at \n, \r
// and \r\n.
func runnerLines(s string) []string {
	return strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s), "\n")
}

// commandOf is the command that the runner finds in a line, or empty: see
// ActionCommand.TryParseV2 and TryParse in actions/runner.
func commandOf(line string) string {
	if c := strings.TrimLeftFunc(line, func(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' || r == '\u200b' }); strings.HasPrefix(c, "::") {
		if _, _, ok := strings.Cut(c[2:], "::"); ok {
			return c
		}
	}
	if i := strings.Index(line, "##["); i >= 0 && strings.Contains(line[i:], "]") {
		return line[i:]
	}
	return ""
}

func checkLog(t *testing.T, out string) {
	t.Helper()
	for _, line := range runnerLines(out) {
		if c := commandOf(line); c != "" {
			t.Errorf("the runner takes %q for a command", c)
		}
	}
	if i := strings.IndexFunc(out, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }); i >= 0 {
		t.Errorf("%q reaches the terminal", out[i:])
	}
}

func checkLogs(t *testing.T, name string) {
	t.Helper()
	line := LogLine(name)
	if strings.ContainsAny(line, "\r\n") {
		t.Errorf("%q has several lines", line)
	}
	checkLog(t, line)
	checkLog(t, LogText(name))
	var b bytes.Buffer
	w := NewLogWriter(&b)
	// In two pieces, as a program may write.
	fmt.Fprint(w, name[:len(name)/2])
	fmt.Fprint(w, name[len(name)/2:])
	w.Close()
	checkLog(t, b.String())
}

// checkCommand checks that the runner reads one command, with the text and
// properties it was given and no others.
func checkCommand(t *testing.T, name string) {
	t.Helper()
	var b bytes.Buffer
	if err := Annotate(&b, []Annotation{{Level: Failure, Path: "bpf/x.c", Line: 3, Title: name, Message: name}}); err != nil {
		t.Fatal(err)
	}
	lines := runnerLines(strings.TrimSuffix(b.String(), "\n"))
	if len(lines) != 1 {
		t.Fatalf("%d lines: %q", len(lines), b.String())
	}
	head, data, _ := strings.Cut(strings.TrimPrefix(lines[0], "::"), "::")
	command, properties, _ := strings.Cut(head, " ")
	got := map[string]string{}
	for _, p := range strings.Split(properties, ",") {
		key, value, _ := strings.Cut(p, "=")
		got[key] = unescape(value)
	}
	delete(got, "title")
	if command != "error" || len(got) != 3 || got["file"] != "bpf/x.c" || got["line"] != "3" || got["endLine"] != "3" {
		t.Errorf("%q with %v", command, got)
	}
	// The runner prints what it decoded.
	checkLog(t, unescape(data))
}

func unescape(s string) string {
	return strings.NewReplacer("%0D", "\r", "%0A", "\n", "%3A", ":", "%2C", ",", "%25", "%").Replace(s)
}

// document is Markdown as a comment has it, with names in each place.
func document(name, log string) string {
	return "# Title\n\n" + MarkdownCode(name) + "\n\n" +
		"| a | b | c |\n| --- | --: | --- |\n| " + MarkdownCode(name) + " | 1 | " + MarkdownCode(name) + " |\n\n" +
		"- " + MarkdownCode(name) + ": text " + MarkdownCode(name) + "\n\n" +
		"<details><summary>" + HTMLCode(name) + "</summary>\n\n" + MarkdownFence(log) + "\n</details>\n"
}

// checkMarkdown checks that GitHub sees what the document has, and names as
// nothing but code.
func checkMarkdown(t *testing.T, name string) {
	t.Helper()
	source := []byte(document(name, name))
	root := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
	counts := map[ast.NodeKind]int{}
	err := ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		counts[n.Kind()]++
		switch n := n.(type) {
		case *ast.Text:
			if s := string(n.Value(source)); n.Parent().Kind() != ast.KindCodeSpan && !strings.Contains("Title a b c 1 : text ", s) {
				t.Errorf("%q became the text %q", name, s)
			}
		case *ast.CodeSpan:
			if got := spanText(n, source); got != strings.TrimSpace(codeText(name)) && got != codeText(name) {
				t.Errorf("%q became the code %q", name, got)
			}
		case *ast.HTMLBlock:
			checkHTML(t, name, n, source)
		case *ast.FencedCodeBlock:
			if got := string(n.Lines().Value(source)); got != inFence(name) {
				t.Errorf("%q became the block %q", name, got)
			}
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[ast.NodeKind]int{
		ast.KindDocument: 1, ast.KindHeading: 1, ast.KindParagraph: 1, ast.KindList: 1, ast.KindListItem: 1, ast.KindTextBlock: 1,
		ast.KindCodeSpan: 5, ast.KindHTMLBlock: 2, ast.KindFencedCodeBlock: 1,
		east.KindTable: 1, east.KindTableHeader: 1, east.KindTableRow: 1, east.KindTableCell: 6,
	}
	delete(counts, ast.KindText)
	if fmt.Sprint(counts) != fmt.Sprint(want) {
		t.Errorf("%q became %v, want %v, in\n%s", name, counts, want, source)
	}
}

func spanText(n ast.Node, source []byte) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		b.Write(c.(*ast.Text).Value(source))
	}
	return b.String()
}

func inFence(s string) string {
	_, body, _ := strings.Cut(MarkdownFence(s), "\n")
	return body[:strings.LastIndex(strings.TrimSuffix(body, "\n"), "\n")+1]
}

var tagForm = regexp.MustCompile(`<[^>]*>`)

// checkHTML checks that the tags of a block are those that were meant, and
// that nothing in it is markup but them.
func checkHTML(t *testing.T, name string, n *ast.HTMLBlock, source []byte) {
	t.Helper()
	block := string(n.Lines().Value(source))
	if strings.HasPrefix(block, "</details>") {
		return
	}
	if tags := strings.Join(tagForm.FindAllString(block, -1), ""); tags != "<details><summary><code></code></summary>" {
		t.Errorf("%q became the tags %s", name, tags)
	}
	content := strings.TrimSpace(tagForm.ReplaceAllString(block, ""))
	if strings.ContainsAny(content, "@:/[]()!`*_<>") || html.UnescapeString(content) != codeText(name) {
		t.Errorf("%q became the HTML %q", name, content)
	}
}

func TestTenThousandHostileNames(t *testing.T) {
	for _, name := range append(hostileNames(names), attacks...) {
		checkLogs(t, name)
		checkCommand(t, name)
		checkMarkdown(t, name)
		if t.Failed() {
			t.Fatalf("with the name %q", name)
		}
	}
}

// The checks must see what they are there for.
func TestTheChecksSeeAttacks(t *testing.T) {
	for _, line := range []string{"::error::x", " \t::error file=x::y", "\u00a0::a::", "a ##[error]x"} {
		if commandOf(line) == "" {
			t.Errorf("%q is no command", line)
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
		if got := LogLine(name); got != name {
			t.Errorf("%q became %q", name, got)
		}
		if got := MarkdownCode(name); got != "`"+name+"`" {
			t.Errorf("%q became %s", name, got)
		}
		if got := html.UnescapeString(HTMLCode(name)); got != "<code>"+name+"</code>" {
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

func TestLongNamesAreCut(t *testing.T) {
	if got := MarkdownCode(strings.Repeat("é", 10_000)); len(got) > 2*maxCode+10 || !strings.HasSuffix(got, "…`") {
		t.Errorf("%d bytes", len(got))
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

func fuzz(f *testing.F, check func(*testing.T, string)) {
	for _, a := range attacks {
		f.Add(a)
	}
	f.Fuzz(check)
}

func FuzzLog(f *testing.F)      { fuzz(f, checkLogs) }
func FuzzCommand(f *testing.F)  { fuzz(f, checkCommand) }
func FuzzMarkdown(f *testing.F) { fuzz(f, checkMarkdown) }
