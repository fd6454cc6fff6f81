package probe

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
)

// lackingError says that this machine has not got what was asked for. It
// reads better than an error that ends in "not supported".
type lackingError struct{ error }

func (e *lackingError) Is(target error) bool { return target == ebpf.ErrNotSupported }

func (e *lackingError) Unwrap() error { return e.error }

// lacking makes an error that answers No, for a reason in the words of
// [fmt.Errorf].
func lacking(format string, args ...any) error {
	return &lackingError{fmt.Errorf(format, args...)}
}

// inconclusive makes err answer Unknown whatever it wraps, where its cause is
// no answer to what was asked.
func inconclusive(err error) error { return errors.New(err.Error()) }

// lackingIf makes err answer No when it is one of the targets: those by which
// the kernel, at the call that failed, says that it has no such thing.
func lackingIf(err error, targets ...error) error {
	for _, target := range targets {
		if errors.Is(err, target) {
			return &lackingError{err}
		}
	}
	return err
}
