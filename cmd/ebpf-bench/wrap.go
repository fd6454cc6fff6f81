package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/report"
)

// columns is how wide the results may be: 0 for any width where they are not
// for a terminal.
func (t *terminal) columns() int {
	if !isTerminal(t.stdout) {
		return 0
	}
	return width(t.stdout)
}

// wrap breaks text between words, so that it fits in so many columns with each
// line indented: the first, which stands behind something, by its place.
func wrap(s string, columns, indent int) string {
	const least = 20 // below that it is better wrapped by the terminal
	if columns == 0 || columns-indent < least {
		return s
	}
	return report.Wrap(s, columns, indent, indent)
}

// helpWidth is the most that help is wide, for lines that are longer are hard
// to read, and where it is not for a terminal.
const helpWidth = 80

// wrapHelp makes the help of a command and those below it fit the terminal.
func wrapHelp(t *terminal, cmd *cobra.Command) {
	columns := helpWidth
	if isTerminal(t.stdout) {
		columns = min(columns, width(t.stdout))
	}
	cmd.SetUsageTemplate(strings.NewReplacer(
		".LocalFlags.FlagUsages", fmt.Sprintf(".LocalFlags.FlagUsagesWrapped %d", columns),
		".InheritedFlags.FlagUsages", fmt.Sprintf(".InheritedFlags.FlagUsagesWrapped %d", columns),
	).Replace(cmd.UsageTemplate()))
	var all func(*cobra.Command)
	all = func(cmd *cobra.Command) {
		cmd.Long = wrapText(cmd.Long, columns)
		for _, sub := range cmd.Commands() {
			all(sub)
		}
	}
	all(cmd)
}

// wrapText wraps the paragraphs of a text. What is indented, such as a table,
// keeps its lines, of which those that are too long go on in their last column.
func wrapText(s string, columns int) string {
	var lines, paragraph []string
	flush := func() {
		if len(paragraph) > 0 {
			lines = append(lines, wrap(strings.Join(paragraph, " "), columns, 0))
			paragraph = nil
		}
	}
	for line := range strings.SplitSeq(s, "\n") {
		if line != "" && !strings.HasPrefix(line, " ") {
			paragraph = append(paragraph, line)
			continue
		}
		flush()
		column := strings.LastIndex(line, "  ") + 2
		lines = append(lines, line[:min(column, len(line))]+wrap(line[min(column, len(line)):], columns, column))
	}
	flush()
	return strings.Join(lines, "\n")
}
