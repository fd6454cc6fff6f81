package main

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/ui"
)

// Help fits the usual terminal, and the terminal breaks no word of it.
func TestHelpFitsTheTerminal(t *testing.T) {
	var all func(*cobra.Command)
	all = func(cmd *cobra.Command) {
		var out bytes.Buffer
		cmd.SetOut(&out)
		if err := cmd.Help(); err != nil {
			t.Error(err)
		}
		for line := range strings.Lines(out.String()) {
			line = strings.TrimSuffix(line, "\n")
			if n := text.StringWidthWithoutEscSequences(line); n > helpWidth && !strings.Contains(line, "://") {
				t.Errorf("%s --help: %d columns: %s", cmd.CommandPath(), n, line)
			}
		}
		for _, sub := range cmd.Commands() {
			all(sub)
		}
	}
	root := newRoot(ui.New(io.Discard, io.Discard))
	all(root)
}
