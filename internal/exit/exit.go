// Package exit turns an error into an exit code. Errors are classified where they arise,
// and the codes are part of the tool's interface.
package exit

import (
	"context"
	"errors"
	"slices"
)

// The exit codes.
const (
	Pass        = 0
	Regression  = 1 // something got worse, or is over its budget
	WrongUsage  = 2 // flags, files or suites that are wrong, found before anything is measured
	NotMeasured = 3 // something could not be measured, kept or judged
)

// coded is an error that decides the exit code.
type coded struct {
	code int
	err  error
}

func (e *coded) Error() string { return e.err.Error() }
func (e *coded) Unwrap() error { return e.err }

// Said returns an error that decides the exit code and prints nothing, because the caller
// already did.
func Said(code int) error { return &coded{code, reportedError{}} }

// reportedError is a join of no errors, so that nothing is printed.
type reportedError struct{}

func (reportedError) Error() string   { return "said already" }
func (reportedError) Unwrap() []error { return nil }

// Regressed marks err as a regression.
func Regressed(err error) error { return &coded{Regression, err} }

// Usage marks err as an error in how the tool was called, which an interrupt is not. It
// returns nil for nil.
func Usage(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, context.Canceled) {
		return NoMeasure(err)
	}
	return &coded{WrongUsage, err}
}

// NoMeasure marks err as the reason why nothing, or not everything, was measured. It
// leaves usage errors alone.
func NoMeasure(err error) error {
	if err == nil || CodeOf(err) == WrongUsage {
		return err
	}
	return &coded{NotMeasured, err}
}

// CodeOf returns the exit code of an error. Of several that are joined, a regression
// decides, because no failure beside it takes it back; otherwise the first that was
// classified does. An unclassified error came from the tool's own work, so nothing was
// measured.
func CodeOf(err error) int {
	all := codes(err)
	switch {
	case err == nil:
		return Pass
	case slices.Contains(all, Regression):
		return Regression
	case len(all) > 0:
		return all[0]
	default:
		return NotMeasured
	}
}

// codes returns the codes of the classified errors that err joins or wraps.
func codes(err error) (all []int) {
	switch e := err.(type) { //nolint:errorlint // it walks the tree itself
	case *coded:
		return []int{e.code}
	case interface{ Unwrap() error }:
		return codes(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, part := range e.Unwrap() {
			all = append(all, codes(part)...)
		}
	}
	return all
}

// Each returns the joined errors, each with the exit code that it decides.
func Each(err error) []error {
	if err == nil {
		return nil
	}
	if e, ok := err.(*coded); ok { //nolint:errorlint // deeper ones belong to a sentence
		var all []error
		for _, part := range Each(e.err) {
			all = append(all, &coded{e.code, part})
		}
		return all
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, part := range joined.Unwrap() {
		all = append(all, Each(part)...)
	}
	return all
}
