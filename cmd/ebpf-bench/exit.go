package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// The exit codes, part of the tool's promise.
const (
	exitPass       = 0
	exitRegression = 1
	exitUsage      = 2
	exitNoMeasure  = 3
)

// exitError is an error that decides the exit code.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// alreadySaid decides the exit code and says nothing: whoever returns it has.
func alreadySaid(code int) error { return &exitError{code, saidError{}} }

// saidError is a join of no errors, so that nothing of it is printed.
type saidError struct{}

func (saidError) Error() string   { return "said already" }
func (saidError) Unwrap() []error { return nil }

func usage(err error) error {
	if err == nil {
		return nil
	}
	return &exitError{exitUsage, err}
}

// noMeasure leaves an error alone that was found before anything was measured.
func noMeasure(err error) error {
	if err == nil || exitCode(err) == exitUsage {
		return err
	}
	return &exitError{exitNoMeasure, err}
}

// usageError is an error in how a command was called.
func usageError(cmd *cobra.Command, err error) error {
	return usage(bench.WithHint(err, "see "+cmd.CommandPath()+" --help"))
}

func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usageError(cmd, explainArgs(cmd, args, check, err))
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

// exitCode is the exit code of an error. One that nothing classified came
// from the tool's own work, so nothing was measured.
func exitCode(err error) int {
	var e *exitError
	switch {
	case err == nil:
		return exitPass
	case errors.As(err, &e):
		return e.code
	default:
		return exitNoMeasure
	}
}
