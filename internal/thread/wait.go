package thread

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// waitStep is how long Wait sleeps between looks at the context.
const waitStep = 100 * time.Millisecond

// Wait sleeps for exactly that time, or until soon after ctx is cancelled. A
// thread's timer slack, which is long in exact mode, delays every other way of
// sleeping.
func Wait(ctx context.Context, d time.Duration) error {
	for ; d > waitStep; d -= waitStep {
		if err := sleep(waitStep); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return sleep(d)
}

func sleep(d time.Duration) error {
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
