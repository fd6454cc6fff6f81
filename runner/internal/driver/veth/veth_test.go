package veth

import (
	"errors"
	"fmt"
	"testing"

	"golang.org/x/sys/unix"
)

// Of the errors of a veth pair, only those of a kernel without them leave it to test_run.
func TestMissingVeth(t *testing.T) {
	for err, want := range map[error]bool{
		fmt.Errorf("make veth pair: %w", unix.EOPNOTSUPP): true,
		unix.ENODEV: true,
		nil:         false, unix.EPERM: false, unix.EINVAL: false, errors.New("another"): false,
	} {
		if got := isMissing(err); got != want {
			t.Errorf("%v: %t", err, got)
		}
	}
}
