package fleet

import (
	"errors"
	"fmt"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/vm"
)

// lostError is why a machine failed, together with the benchmark that it was measuring.
// The result of the benchmark says so too.
type lostError struct {
	error
	result *bench.Result
}

func (e *lostError) Error() string {
	return fmt.Sprintf("%s, while it measured %s", e.error, e.result.Benchmark)
}

func (e *lostError) Unwrap() error { return e.error }

// Loss returns why a machine, or the tool in it, ended without its results, or an empty
// string for other errors. The tool is killed by what it runs, or for its memory.
func Loss(err error) string {
	var fault *vm.Fault
	var ended *vm.ExitError
	switch {
	case errors.As(err, &fault):
		return "the virtual machine failed: " + fault.Error()
	case errors.As(err, &ended) && ended.Signal != "":
		return "ebpf-bench in the guest was ended: " + ended.Error()
	}
	return ""
}

// Lose marks the result of a benchmark that was lost with its machine as failed, and names
// the benchmark in the error. It returns other errors unchanged.
func Lose(r *bench.Result, err error) error {
	loss := Loss(err)
	if loss == "" {
		return err
	}
	r.Error, r.Hint = loss, bench.Hint(err)
	return bench.WithHint(&lostError{err, r}, bench.Hint(err))
}

// Tells reports whether an error already says that a benchmark was lost for that reason.
func Tells(err error, benchmark, loss string) bool {
	var lost *lostError
	return errors.As(err, &lost) && lost.result.Benchmark == benchmark && lost.result.Error == loss
}
