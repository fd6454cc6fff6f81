package kernel

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// lock waits until no other process holds the lock of that name, and holds it
// until unlock. It only spares work that another process is doing already, and
// nothing breaks where two hold it: on a file system without locks, or when a
// third comes in the moment that the first removes the file.
func (c *Cache) lock(ctx context.Context, name string) (unlock func(), err error) {
	const poll = 50 * time.Millisecond
	// Any text is a name, but not of a file.
	file := fmt.Sprintf(".lock-%x", sha256.Sum256([]byte(name)))
	f, err := os.OpenFile(filepath.Join(c.dir, file), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock kernel cache: %w", err)
	}
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			return func() { os.Remove(f.Name()); f.Close() }, nil
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, ctx.Err()
		case <-time.After(poll):
		}
	}
}
