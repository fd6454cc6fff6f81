package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/vm"
)

// lostError is why a machine failed, which took the benchmark with it that was
// being measured. The results say so of the benchmark too.
type lostError struct {
	error
	result *bench.Result
}

func (e *lostError) Error() string {
	return fmt.Sprintf("%s, while it measured %s", e.error, e.result.Benchmark)
}

func (e *lostError) Unwrap() error { return e.error }

// lossOf is why a machine, or the tool in it, ended without its results, empty
// for other errors. The tool is killed by what it runs, or for its memory.
func lossOf(err error) string {
	var fault *vm.Fault
	var exit *vm.ExitError
	switch {
	case errors.As(err, &fault):
		return "the virtual machine failed: " + fault.Error()
	case errors.As(err, &exit) && exit.Signal != "":
		return "ebpf-bench in the guest was ended: " + exit.Error()
	}
	return ""
}

// lose makes a result of a benchmark that was lost with its machine one that
// failed, and names the benchmark in the error. Other errors are as they were.
func lose(r *bench.Result, err error) error {
	loss := lossOf(err)
	if loss == "" {
		return err
	}
	r.Error, r.Hint = loss, bench.Hint(err)
	return bench.WithHint(&lostError{err, r}, bench.Hint(err))
}

// besides are the failures that an error does not tell of already.
func (l failureList) besides(told error) failureList {
	return slices.DeleteFunc(l, func(f *failure) bool {
		return slices.ContainsFunc(exit.Each(told), func(err error) bool {
			var lost *lostError
			return errors.As(err, &lost) && lost.result.Benchmark == f.Benchmark && lost.result.Error == f.Error
		})
	})
}
