// Package cli has the arguments and flags that several commands have.
package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/exit"
)

// UsageError is an error in how a command was called.
func UsageError(cmd *cobra.Command, err error) error {
	return exit.Usage(bench.WithHint(err, "see "+cmd.CommandPath()+" --help"))
}

// UsageArgs checks the arguments of a command, and says which is wrong.
func UsageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return UsageError(cmd, explainArgs(cmd, args, check, err))
		}
		return nil
	}
}

// explainArgs says which argument is missing or one too many, where cobra just
// counts them.
func explainArgs(cmd *cobra.Command, args []string, check cobra.PositionalArgs, err error) error {
	needed := neededArgs(cmd.Use)
	switch {
	case cmd.HasSubCommands():
		return err
	case len(args) < len(needed):
		return fmt.Errorf("%s is missing", needed[len(args)])
	}
	for n := len(args) - 1; n >= 0; n-- {
		if check(cmd, args[:n]) == nil {
			return fmt.Errorf("one argument too many: %q", args[n])
		}
	}
	return err
}

// neededArgs are the arguments that a line of usage has without brackets, such
// as BASE of "compare [flags] BASE [HEAD]".
func neededArgs(use string) (needed []string) {
	for _, word := range strings.Fields(use)[1:] {
		if !strings.HasPrefix(word, "[") {
			needed = append(needed, strings.TrimSuffix(word, "..."))
		}
	}
	return needed
}
