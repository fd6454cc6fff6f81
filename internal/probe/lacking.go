package probe

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
)

// lackingError says that this machine lacks a feature. It reads better than an
// error that ends in "not supported".
type lackingError struct{ error }

func (e *lackingError) Is(target error) bool { return target == ebpf.ErrNotSupported }

func (e *lackingError) Unwrap() error { return e.error }

// lacking returns an error that answers No, with a reason in the style of
// [fmt.Errorf].
func lacking(format string, args ...any) error {
	return &lackingError{fmt.Errorf(format, args...)}
}

// inconclusive makes err answer Unknown, whatever it wraps, if its cause does
// not answer the question.
func inconclusive(err error) error { return errors.New(err.Error()) }

// lackingIf makes err answer No if it is one of the targets: errors by which
// the kernel, at the call that failed, says that it lacks the feature.
func lackingIf(err error, targets ...error) error {
	for _, target := range targets {
		if errors.Is(err, target) {
			return &lackingError{err}
		}
	}
	return err
}
