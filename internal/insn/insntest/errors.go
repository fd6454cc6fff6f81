package insntest

import (
	"errors"
	"fmt"
)

var (
	// ErrUnsupported is for features that the machine does not know; the kernel
	// may.
	ErrUnsupported = errors.New("not supported by the interpreter")
	// ErrFault is for errors that the verifier rules out.
	ErrFault = errors.New("the program is at fault")
	// ErrSteps ends a program that runs for too long.
	ErrSteps = errors.New("too many instructions")
)

func unsupported(format string, args ...any) error {
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), ErrUnsupported)
}

func fault(format string, args ...any) error {
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), ErrFault)
}
