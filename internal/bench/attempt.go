package bench

import (
	"cmp"
	"fmt"
)

// Attempt is one attempt of the run of a workflow on GitHub.
type Attempt struct {
	// Run is the id of the workflow's run, Number counts its attempts from 1.
	Run    int64 `json:"run"`
	Number int   `json:"attempt"`
}

// Before reports whether the attempt began before another. It is false if either is nil,
// so unknown.
func (a *Attempt) Before(b *Attempt) bool {
	return a != nil && b != nil && cmp.Or(cmp.Compare(a.Run, b.Run), cmp.Compare(a.Number, b.Number)) < 0
}

// String returns "attempt 2 of workflow run 42".
func (a Attempt) String() string {
	return fmt.Sprintf("attempt %d of workflow run %d", a.Number, a.Run)
}
