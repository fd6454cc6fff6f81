package ui

import "github.com/org/ebpf-bench-action/internal/report/grid"

// Columns is how wide the results may be: 0 for any width where they are not
// for a terminal.
func (t *Terminal) Columns() int {
	if !IsTerminal(t.Stdout) {
		return 0
	}
	return Width(t.Stdout)
}

// Wrap breaks text between words, so that it fits in so many columns with each
// line indented: the first, which stands behind something, by its place.
func Wrap(s string, columns, indent int) string {
	const least = 20 // below that it is better wrapped by the terminal
	if columns == 0 || columns-indent < least {
		return s
	}
	return grid.Wrap(s, columns, indent, indent)
}
