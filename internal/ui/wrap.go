package ui

import "github.com/org/ebpf-bench-action/internal/report/grid"

// Columns returns the width for results, or 0 for any width if they do not go
// to a terminal.
func (t *Terminal) Columns() int {
	if !IsTerminal(t.Stdout) {
		return 0
	}
	return Width(t.Stdout)
}

// Wrap breaks text between words so that it fits into columns with each line
// indented. The first line continues an existing line, and indent is its
// position there.
func Wrap(s string, columns, indent int) string {
	const least = 20 // below that, leave the wrapping to the terminal
	if columns == 0 || columns-indent < least {
		return s
	}
	return grid.Wrap(s, columns, indent, indent)
}
