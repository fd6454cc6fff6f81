package grid

import (
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// None stands for a missing figure.
const None = "-"

// Cell is a text of one or several parts, which both renderers write: for a
// terminal with color, and as Markdown.
type Cell []part

type part struct {
	text string
	kind kind
	// most is how many characters of it a terminal shows; 0 means any number.
	most  int
	style Style
	// url is what it links to in Markdown, if anything.
	url string
}

// kind is how a text is escaped.
type kind int

const (
	figure kind = iota
	word
	name
)

// Figure is text that needs no escaping.
func Figure(s string) Cell { return Cell{{text: s}} }

// Word is a stranger's text. If it is empty, Markdown has None.
func Word(s string) Cell { return Cell{{text: s, kind: word}} }

// Words returns a Word cell for each text.
func Words(texts ...string) []Cell {
	cells := make([]Cell, len(texts))
	for i, s := range texts {
		cells[i] = Word(s)
	}
	return cells
}

// Name is a name that a stranger gave something. It is code in Markdown.
func Name(s string) Cell { return Cell{{text: s, kind: name}} }

// ShortName is a Name that a terminal cuts to most characters.
func ShortName(s string, most int) Cell { return Cell{{text: s, kind: name, most: most}} }

// List returns the first of many names, and the number of the others.
func List(names []string, cell func(string) Cell) Cell {
	first, more := unit.First(names)
	var all Cell
	for i, s := range first {
		if i > 0 {
			all = all.And(Figure(", "))
		}
		all = all.And(cell(s))
	}
	return all.And(Figure(more))
}

// And returns the cell with the parts of others appended.
func (c Cell) And(others ...Cell) Cell {
	all := c[:len(c):len(c)]
	for _, o := range others {
		all = append(all, o...)
	}
	return all
}

// Paint gives the cell a color in terminals, or makes it bold, also in
// Markdown.
func (c Cell) Paint(style Style) Cell {
	c = slices.Clone(c)
	for i := range c {
		c[i].style = style
	}
	return c
}

// Link makes the cell a link in Markdown, unless the URL is empty. The URL is text that
// needs no escaping.
func (c Cell) Link(url string) Cell {
	c = slices.Clone(c)
	for i := range c {
		c[i].url = url
	}
	return c
}

// Text returns the cell for a terminal.
func (c Cell) Text(color bool) string {
	var b strings.Builder
	for i := 0; i < len(c); {
		style, run := c[i].style, ""
		for ; i < len(c) && c[i].style == style; i++ {
			run += c[i].printed()
		}
		b.WriteString(Paint(color, style, run))
	}
	return b.String()
}

func (p *part) printed() string {
	s := p.text
	if p.most > 0 {
		s = escape.Clip(s, p.most)
	}
	if p.kind == figure {
		return s
	}
	return escape.Printable(s)
}

// Markdown returns the cell as Markdown.
func (c Cell) Markdown() string {
	var b strings.Builder
	for _, p := range c {
		s := p.text
		switch {
		case p.kind == word && s == "":
			s = None
		case p.kind == word:
			s = escape.Markdown(s)
		case p.kind == name && s != "":
			s = escape.MarkdownCode(s)
		}
		if p.style == Bold {
			s = "**" + s + "**"
		}
		if p.url != "" {
			s = "[" + s + "](" + p.url + ")"
		}
		b.WriteString(s)
	}
	return b.String()
}
