package github

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sethvargo/go-githubactions"

	"github.com/org/ebpf-bench-action/internal/unit"
)

// Names, paths, verifier logs and whole files come from a pull request. This
// file is the one place that makes such text mean nothing to where it goes:
//
//	LogLine, LogText   the log of a job, and a terminal
//	command            a workflow command's data and properties
//	MarkdownCode       Markdown, also in a cell of a table
//	MarkdownFence      Markdown, a text of many lines
//	HTMLCode           HTML in Markdown, such as <summary>
//
// The others need only what these do: a heredoc has a random delimiter, and
// JSON is encoded by the library.

// maxCode is the number of characters of a name in Markdown. No honest one is
// longer, and one without end would leave no room for the others.
const maxCode = 300

// LogLine is text as one line of a log: it moves no cursor, and the runner
// finds no command in it, neither ::x:: at its start nor ##[x] anywhere.
func LogLine(s string) string {
	s = strings.ReplaceAll(unit.Printable(s), "##[", "## [")
	// The runner ignores blanks before a command.
	blank := len(s) - len(strings.TrimLeftFunc(s, func(r rune) bool { return !visible(r) }))
	if strings.HasPrefix(s[blank:], "::") {
		s = s[:blank] + ": :" + s[blank+len("::"):]
	}
	return s
}

// LogText is text as lines of a log, each of them as LogLine makes it.
func LogText(s string) string {
	lines := strings.FieldsFunc(s, func(r rune) bool { return r == '\r' })
	lines = strings.Split(strings.Join(lines, ""), "\n")
	for i, line := range lines {
		lines[i] = LogLine(line)
	}
	return strings.Join(lines, "\n")
}

// command is a workflow command with hostile text in it, as one line.
func command(name, text string, properties map[string]string) string {
	c := githubactions.Command{
		Name: name,
		// The runner prints the text line by line where it decoded it.
		Message:    LogText(text),
		Properties: make(githubactions.CommandProperties),
	}
	for key, value := range properties {
		if value != "" {
			c.Properties[key] = LogLine(value)
		}
	}
	return c.String()
}

// MarkdownCode is text as a span of code, which GitHub leaves alone: nothing
// in it is markup, a mention, a link or the end of a table's cell. The two
// characters that could end a span or a cell are replaced by others that look
// like them.
func MarkdownCode(s string) string { return "`" + codeText(s) + "`" }

// HTMLCode is text as code in HTML, for lines of Markdown that are HTML.
func HTMLCode(s string) string {
	var b strings.Builder
	b.WriteString("<code>")
	for _, r := range codeText(s) {
		if r == ' ' || unicode.IsLetter(r) || unicode.IsDigit(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "&#%d;", r)
		}
	}
	b.WriteString("</code>")
	return b.String()
}

var lookalikes = strings.NewReplacer("`", "ˋ", "|", "∣")

func codeText(s string) string {
	s = lookalikes.Replace(clip(strings.TrimSpace(unit.Printable(s)), maxCode))
	if strings.TrimFunc(s, func(r rune) bool { return !visible(r) }) == "" {
		return "(empty)"
	}
	return s
}

// MarkdownFence is text of many lines as a block of code.
func MarkdownFence(s string) string {
	lines := strings.Split(strings.TrimRight(s, "\r\n"), "\n")
	for i, line := range lines {
		lines[i] = unit.Printable(strings.TrimRight(line, "\r"))
	}
	s = strings.Join(lines, "\n")
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return fence + "text\n" + s + "\n" + fence + "\n"
}

// visible tells whether a character has an ink of its own.
func visible(r rune) bool {
	return unicode.IsGraphic(r) && !unicode.IsSpace(r) && !unicode.IsMark(r)
}

// clip is the first characters of text.
func clip(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}
