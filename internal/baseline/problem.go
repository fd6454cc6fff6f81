package baseline

import (
	"fmt"

	"github.com/org/ebpf-bench-action/internal/escape"
)

// Problem is a defect of one file in a store. It is an error, and affects no other run.
type Problem struct {
	// File is the path of the file.
	File string
	// Err says what is wrong with it, and bench.Hint what to do about it.
	Err error
}

func (p Problem) Error() string { return fmt.Sprintf("%s: %v", escape.Printable(p.File), p.Err) }

// Unwrap lets errors.Is and bench.Hint see Err.
func (p Problem) Unwrap() error { return p.Err }
