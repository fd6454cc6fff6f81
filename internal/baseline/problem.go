package baseline

import (
	"fmt"

	"github.com/org/ebpf-bench-action/internal/escape"
)

// Problem is one file of a store that is not as it should be. It is an error,
// and affects no other run.
type Problem struct {
	// File is the path of the file.
	File string
	// Err says what is wrong with it; bench.Hint what can be done.
	Err error
	// Leftover tells that a process which was killed left the file behind.
	// Nothing is lost by it, and Prune tidies it up.
	Leftover bool
}

func (p Problem) Error() string { return fmt.Sprintf("%s: %v", escape.Printable(p.File), p.Err) }

// Unwrap makes errors.Is and bench.Hint see Err.
func (p Problem) Unwrap() error { return p.Err }
