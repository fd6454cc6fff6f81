package count

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/insn"
)

// notInstrumented explains why a program cannot be given counters.
func notInstrumented(err error) error {
	if errors.Is(err, insn.ErrStack) {
		return bench.WithHint(err, "a counter takes a register for a moment, and 8 bytes of the stack to save it where all are in use: let the program use less than the 512 bytes that it has")
	}
	return err
}

// notLoaded explains why the counting copy of a program does not load though
// the program itself does. The program is not to blame, and the verifier's
// log, of up to a million instructions, would be about code that nobody wrote.
func notLoaded(program string, err error) error {
	text := err.Error()
	var refused *ebpf.VerifierError
	switch {
	case errors.Is(err, unix.E2BIG), strings.Contains(text, "BPF program is too large"), strings.Contains(text, "jumps is too complex"):
		return fmt.Errorf("with counters program %s is too large for the verifier, which follows 1,000,000 instructions of all its paths", program)
	case errors.As(err, &refused):
		return fmt.Errorf("with counters: %w", err)
	}
	return err
}
