package escape

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// In a comment, names and sentences must not become markup, mention anybody, link anywhere
// or end a table's cell. GitHub does not interpret code, so names become code, and so do the
// words of sentences that could have a meaning.

// MaxName and MaxSentence are the maximum numbers of characters in names and sentences in
// Markdown. No honest one is longer, and an endless one would leave no room for the
// others.
const (
	MaxName     = 160
	MaxSentence = 600
)

// MarkdownCode returns a name as code.
func MarkdownCode(s string) string { return code(oneLine(s, MaxName)) }

// Markdown returns a sentence in which the words that have a meaning for GitHub are code.
// For the beginning of a line, use MarkdownLine.
func Markdown(s string) string { return sentence(s, item) }

// sentence returns a sentence that is no block, which begins as start matches.
func sentence(s string, start *regexp.Regexp) string {
	words := strings.Fields(oneLine(s, MaxSentence))
	words = slices.DeleteFunc(words, func(w string) bool { return !strings.ContainsFunc(w, visible) })
	if len(words) == 0 {
		return "-"
	}
	begins := start.MatchString(strings.Join(words, " "))
	for i, w := range words {
		if plain(w) && !(i == 0 && begins) {
			continue
		}
		meant := strings.TrimRight(w, ".,;:")
		if plain(meant) {
			meant = w
		}
		words[i] = code(meant) + w[len(meant):]
	}
	return strings.Join(words, " ")
}

// item matches the beginning of a list item, for sentences that begin a line anyway, such
// as in an item of their own.
var item = regexp.MustCompile(`^([-+]|\d{1,9}[.)]) `)

// MarkdownLine returns a sentence that begins a line, where more has a meaning.
func MarkdownLine(s string) string { return sentence(s, block) }

// block matches what makes a line a list item, or a heading or a rule together with the
// line before. Any other such text is not plain.
var block = regexp.MustCompile(`^([-+=]|\d{1,9}[.)]( |$))`)

// MarkdownFence returns text of many lines as a code block.
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

// oneLine makes text printable and clips it.
func oneLine(s string, most int) string { return Clip(strings.TrimSpace(Printable(s)), most) }

// plain reports whether a word has no character with a meaning within a line for Markdown or
// GitHub, and nothing that GitHub turns into a link.
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

// named matches a commit, which GitHub turns into a link, and an emoji.
var named = regexp.MustCompile(`\b[0-9A-Fa-f]{40}\b|:[\pL\pN+-]+:`)

// code returns text as code. Backticks suffice for nearly all; text that could end them,
// or a cell, is written in entities, which are never markup.
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
