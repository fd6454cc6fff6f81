package report

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/org/ebpf-bench-action/internal/unit"
)

// Names and sentences reach a comment from objects and files of strangers.
// They must not become markup, mention anybody, link anywhere or end a table's
// cell. GitHub leaves what is code alone, so that is what they become.

// Names and sentences are cut to these many characters: no honest one is
// longer, and one without end would leave no room for the others.
const (
	maxMarkdownName = 160
	maxMarkdownText = 600
)

// markdownName is a name as code.
func markdownName(s string) string { return code(clip(s, maxMarkdownName)) }

// markdownText is a sentence as it is if nothing in it can mean anything to
// GitHub, else as code.
func markdownText(s string) string {
	s = clip(s, maxMarkdownText)
	if plain(s) {
		return s
	}
	return code(s)
}

// clip makes text printable and not too long.
func clip(s string, most int) string {
	s = strings.TrimSpace(unit.Printable(s))
	if len(s) <= most {
		return s
	}
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}

// plain tells whether text has no character that Markdown or GitHub gives a
// meaning, and nothing that GitHub makes a link of.
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
	return true
}

// code is text as code. Backticks do for nearly all; a text that could end
// them, or a cell, is written in entities, which never are markup.
func code(s string) string {
	switch {
	case strings.TrimSpace(s) == "":
		return none
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
