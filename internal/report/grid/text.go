// Package grid lays out reports: rows of cells as columns of a terminal, fitted
// to its width, or as a Markdown table, and text between them.
package grid

import (
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

const (
	// TextWidth is the width of running text: it fits every terminal.
	TextWidth = 80
	// MaxWidth is the width at which a line with figures is broken.
	MaxWidth = 100
)

// Wrap breaks text at spaces so that it fits into columns. The first line
// continues a line of first columns; those after it are indented.
func Wrap(s string, columns, first, indent int) string {
	var b strings.Builder
	column, fresh := first, true
	for _, word := range strings.Fields(s) {
		width := text.StringWidthWithoutEscSequences(word)
		switch {
		case fresh:
		case column+1+width > columns:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			column = indent
		default:
			b.WriteString(" ")
			column++
		}
		b.WriteString(word)
		column, fresh = column+width, false
	}
	return b.String()
}

// Width returns the width of the widest line of a text.
func Width(s string) int {
	width := 0
	for line := range strings.Lines(s) {
		width = max(width, text.StringWidthWithoutEscSequences(strings.TrimSuffix(line, "\n")))
	}
	return width
}

// Snip returns the start of a line that fits into columns; 0 means any number.
func Snip(s string, columns int) string {
	if columns <= 0 {
		return s
	}
	return text.Snip(s, columns, "…")
}

// Style is the look of a text in a terminal that shows colors.
type Style text.Color

// The styles. Bold is bold in Markdown, too.
const (
	Bold   = Style(text.Bold)
	Red    = Style(text.FgRed)
	Green  = Style(text.FgGreen)
	Yellow = Style(text.FgYellow)
)

// Paint gives text a style if color is set.
func Paint(color bool, style Style, s string) string {
	if !color || style == 0 {
		return s
	}
	return text.Color(style).EscapeSeq() + s + text.Reset.EscapeSeq()
}
