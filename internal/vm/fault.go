package vm

import (
	"errors"
	"fmt"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// Ways in which a VM fails, for errors.Is.
var (
	// ErrNoQEMU says that QEMU is not installed.
	ErrNoQEMU = errors.New("QEMU is missing")
	// ErrDynamic says that the guest could not run the binary.
	ErrDynamic = errors.New("the binary is not static")
	// ErrNoKernel says that the image is not one that QEMU boots.
	ErrNoKernel = errors.New("the image is not a kernel")
	// ErrKVM says that KVM is absent or broken. Mode Exact does without it.
	ErrKVM = errors.New("KVM does not work")
	// ErrQEMU says that QEMU failed, or that something killed it.
	ErrQEMU = errors.New("QEMU failed")
	// ErrBoot says that the guest ended before its first process was ready.
	ErrBoot = errors.New("the guest did not boot")
	// ErrGuest says that the guest could not run the command, or not pass on
	// its results.
	ErrGuest = errors.New("the guest failed")
	// ErrMemory says that the guest has too little memory.
	ErrMemory = errors.New("the guest ran out of memory")
	// ErrPanic says that the guest's kernel panicked.
	ErrPanic = errors.New("the guest's kernel panicked")
	// ErrHung says that the guest stopped doing anything but the one thing in
	// the trace.
	ErrHung = errors.New("the guest hung")
	// ErrTimeout says that the command ran longer than its Timeout.
	ErrTimeout = errors.New("the command timed out")
	// ErrLost says that the guest's messages ended too early, or are damaged.
	ErrLost = errors.New("the guest was lost")
)

// Fault is a failure of a VM. Its text is one line; %+v appends what the
// guest's console says about it.
type Fault struct {
	// Kind is one of the errors of this package.
	Kind error
	// Reason gives details. It may be empty.
	Reason string
	// Trace has the lines of the console that say why: the panic, where the
	// processor was, and the callers.
	Trace []string
	// Hint says what the reader can do about it, for bench.Hint. It may be
	// empty.
	Hint string
}

func (f *Fault) Error() string {
	if f.Reason == "" {
		return f.Kind.Error()
	}
	return f.Kind.Error() + ": " + f.Reason
}

// Unwrap returns the Kind, with the Hint.
func (f *Fault) Unwrap() error { return bench.WithHint(f.Kind, f.Hint) }

// Format also prints the trace for %+v.
func (f *Fault) Format(s fmt.State, verb rune) {
	fmt.Fprint(s, f.Error())
	if verb == 'v' && s.Flag('+') && len(f.Trace) > 0 {
		fmt.Fprint(s, "\n\t", strings.Join(f.Trace, "\n\t"))
	}
}

// ExitError is a command that ran and did not succeed.
type ExitError struct {
	// Code is the exit code of the command, or -1 if a signal ended it.
	Code int
	// Signal is the name of the signal that ended the command, or "".
	Signal string
}

func (e *ExitError) Error() string {
	if e.Signal != "" {
		return "signal: " + e.Signal
	}
	return fmt.Sprintf("exit status %d", e.Code)
}
