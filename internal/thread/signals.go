package thread

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

// WithoutSignals calls fn on a thread that no signal interrupts, except those
// that cannot be held back. A signal makes the kernel give up a BPF_PROG_RUN of
// many repeats (EINTR) and the verification of a program (EAGAIN), which then
// start over: if signals came faster than they end, they never would. Signals
// that come meanwhile are delivered afterwards, or by another thread.
func WithoutSignals(fn func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all, before unix.Sigset_t
	for i := range all.Val {
		all.Val[i] = ^all.Val[i]
	}
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, &all, &before); err != nil {
		return fmt.Errorf("hold back signals: %w", err)
	}
	err := fn()
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil); err != nil {
		return fmt.Errorf("let signals through again: %w", err)
	}
	return err
}
