package main

import (
	"errors"

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
			return usageError(cmd, err)
		}
		return nil
	}
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
