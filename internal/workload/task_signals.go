package workload

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

func init() {
	tasks["signals"] = func([]string) (func(int) (int, error), error) {
		send := newSignaller()
		return repeat(func() error { send(); return nil }), nil
	}
}

// newSignaller is what sends the thread a signal, which has a handler.
func newSignaller() (send func()) {
	// That nobody receives from the channel takes nothing from the delivery.
	signal.Notify(make(chan os.Signal, 1), unix.SIGUSR1)
	pid, tid := uintptr(unix.Getpid()), uintptr(unix.Gettid())
	return func() { raw(unix.SYS_TGKILL, pid, tid, uintptr(unix.SIGUSR1)) }
}
