package runner

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// wait sleeps for just that time. A thread's timer slack, which is long in
// exact mode, delays every other way of sleeping.
func wait(d time.Duration) error {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC)
	if err != nil {
		return fmt.Errorf("create a timer: %w", err)
	}
	defer unix.Close(fd)
	once := unix.ItimerSpec{Value: unix.NsecToTimespec(max(d.Nanoseconds(), 1))}
	if err := unix.TimerfdSettime(fd, 0, &once, nil); err != nil {
		return fmt.Errorf("set a timer: %w", err)
	}
	var expirations [8]byte
	for {
		if _, err = unix.Read(fd, expirations[:]); !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("wait for a timer: %w", err)
	}
	return nil
}
