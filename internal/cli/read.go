package cli

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/input"
	"github.com/org/ebpf-bench-action/internal/ui"
)

// ReadRuns reads a file of results.
func ReadRuns(ctx context.Context, name string) ([]*bench.Run, error) {
	file, err := input.Open(ctx, name)
	if err != nil {
		return nil, exit.Usage(err)
	}
	defer file.Close()
	runs, err := bench.DecodeRuns(file)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return runs, nil
}

// Refused returns a usage error, unless the cause was the system or an interrupt.
func Refused(err error) error {
	var system syscall.Errno
	if errors.As(err, &system) || errors.Is(err, context.Canceled) {
		return exit.NoMeasure(err)
	}
	return exit.Usage(err)
}

// Dash returns text for a cell of a table, "-" if it is empty.
func Dash(s string) string {
	if s == "" {
		return "-"
	}
	return ui.Clean(s)
}

// SuiteFlag registers --suite, and --config as a synonym: the action's input has that
// name.
func SuiteFlag(cmd *cobra.Command, file *string, usage string) {
	for _, name := range []string{"suite", "config"} {
		cmd.Flags().StringVar(file, name, "", usage)
		_ = cmd.MarkFlagFilename(name, "yml", "yaml")
	}
	_ = cmd.Flags().MarkHidden("config")
}
