package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/ui"
)

// helpWidth is the largest width of help, also without a terminal, because longer lines
// are hard to read.
const helpWidth = 80

// wrapHelp makes the help of a command and those below it fit the terminal.
func wrapHelp(t *ui.Terminal, cmd *cobra.Command) {
	columns := helpWidth
	if ui.IsTerminal(t.Stdout) {
		columns = min(columns, ui.Width(t.Stdout))
	}
	cmd.SetUsageTemplate(strings.NewReplacer(
		".LocalFlags.FlagUsages", fmt.Sprintf(".LocalFlags.FlagUsagesWrapped %d", columns),
		"for more information about a command", "for more about a command",
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

// wrapText wraps the paragraphs of a text. Indented text, such as a table, keeps its
// lines; lines that are too long continue in their last column, except those with a URL,
// which are for copying.
func wrapText(s string, columns int) string {
	var lines, paragraph []string
	flush := func() {
		if len(paragraph) > 0 {
			lines = append(lines, ui.Wrap(strings.Join(paragraph, " "), columns, 0))
			paragraph = nil
		}
	}
	for line := range strings.SplitSeq(s, "\n") {
		if line != "" && !strings.HasPrefix(line, " ") {
			paragraph = append(paragraph, line)
			continue
		}
		flush()
		if strings.Contains(line, "://") {
			lines = append(lines, line)
			continue
		}
		column := strings.LastIndex(line, "  ") + 2
		lines = append(lines, line[:min(column, len(line))]+ui.Wrap(line[min(column, len(line)):], columns, column))
	}
	flush()
	return strings.Join(lines, "\n")
}
