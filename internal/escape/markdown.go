package escape

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// In a comment names and sentences must not become markup, mention anybody, link
// anywhere or end a table's cell. GitHub leaves what is code alone, so that is
// what they become.

// MaxName and MaxSentence are the numbers of characters that names and sentences
// in Markdown have at most. No honest one is longer, and one without end would
// leave no room for the others.
const (
	MaxName     = 160
	MaxSentence = 600
)

// MarkdownCode is a name as code.
func MarkdownCode(s string) string { return code(oneLine(s, MaxName)) }

// Markdown is a sentence as it is if nothing in it can mean anything to GitHub,
// else as code. What begins a line is for MarkdownLine.
func Markdown(s string) string {
	s = oneLine(s, MaxSentence)
	if plain(s) && !item.MatchString(s) {
		return s
	}
	return code(s)
}

// item is what begins an item of a list, where a sentence comes to begin a line
// all the same: by itself in an item, say.
var item = regexp.MustCompile(`^([-+]|\d{1,9}[.)]) `)

// MarkdownLine is a sentence that begins a line, where more has a meaning.
func MarkdownLine(s string) string {
	s = oneLine(s, MaxSentence)
	if plain(s) && !block.MatchString(s) {
		return s
	}
	return code(s)
}

// block is what makes a list of a line, or a heading or a rule of it and the one
// before. Anything else that could is not plain.
var block = regexp.MustCompile(`^([-+=]|\d{1,9}[.)]( |$))`)

// MarkdownFence is text of many lines as a block of code.
func MarkdownFence(s string) string {
	lines := strings.Split(strings.TrimRight(s, "\r\n"), "\n")
	for i, line := range lines {
		lines[i] = Printable(strings.TrimRight(line, "\r"))
	}
	s = strings.Join(lines, "\n")
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return fence + "text\n" + s + "\n" + fence + "\n"
}

// oneLine makes text printable and not too long.
func oneLine(s string, most int) string { return Clip(strings.TrimSpace(Printable(s)), most) }

// plain reports whether text has no character that Markdown or GitHub gives a
// meaning within a line, and nothing that GitHub makes a link of.
func plain(s string) bool {
	for _, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(" +-.,;%()/:=→±…·", r) {
			return false
		}
	}
	lower := strings.ToLower(s)
	for _, link := range []string{"www.", "://", "gh-"} {
		if strings.Contains(lower, link) {
			return false
		}
	}
	return !named.MatchString(s)
}

// named are a commit, which GitHub makes a link of, and an emoji.
var named = regexp.MustCompile(`\b[0-9A-Fa-f]{40}\b|:[\pL\pN+-]+:`)

// code is text as code. Backticks do for nearly all; a text that could end
// them, or a cell, is written in entities, which never are markup.
func code(s string) string {
	switch {
	case !strings.ContainsFunc(s, visible):
		return "-"
	case !strings.ContainsAny(s, "`|\\"):
		return "`" + s + "`"
	}
	var b strings.Builder
	for _, r := range s {
		if r == ' ' || unicode.IsLetter(r) || unicode.IsDigit(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "&#%d;", r)
		}
	}
	return "<code>" + b.String() + "</code>"
}
