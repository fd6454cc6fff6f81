// Package filelock waits for a file that another process has locked.
package filelock

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// poll is the time between two attempts: a lock that the kernel waits for cannot be given up.
const poll = 5 * time.Millisecond

// Wait waits until no other process holds the lock on f, which may be a folder, and takes
// it; closing f gives it back. On a file system without locks, such as some network file
// systems, held is false. The only error is the context's.
func Wait(ctx context.Context, f *os.File) (held bool, err error) {
	for {
		switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
		case err == nil:
			return true, nil
		case !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR):
			return false, nil
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(poll):
		}
	}
}
