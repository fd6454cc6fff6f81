package folder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// Processes that add files share the lock; Prune holds it alone, so that it never mistakes
// an object that a Save will refer to for abandoned. On a file system without locks, Prune
// does not run, and the others need none.

// share holds the shared lock until unlock.
func share(ctx context.Context, root *os.Root) (unlock func(), err error) {
	unlock, err = lock(ctx, root, syscall.LOCK_SH)
	if errors.Is(err, errNoLocks) {
		return func() {}, nil
	}
	return unlock, err
}

// holdAlone holds the exclusive lock until unlock.
func holdAlone(ctx context.Context, root *os.Root) (unlock func(), err error) {
	return lock(ctx, root, syscall.LOCK_EX)
}

// shareExisting is share for readers, which do not create the lock: if it does not exist
// or is not accessible, nobody else holds it.
func shareExisting(ctx context.Context, root *os.Root) (unlock func(), err error) {
	f, err := root.OpenFile(lockFile, os.O_RDWR|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return func() {}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	unlock, err = lockFileBy(ctx, f, syscall.LOCK_SH)
	if errors.Is(err, errNoLocks) {
		return func() {}, nil
	}
	return unlock, err
}

// isIdle reports whether nobody holds the lock, and keeps others from it while do runs. It
// returns false if the file system has no locks, because then it cannot know.
func isIdle(root *os.Root, do func() error) (bool, error) {
	f, err := root.OpenFile(lockFile, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return true, do()
	}
	if err != nil {
		return false, nil
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return false, nil
	}
	return true, do()
}

var errNoLocks = errors.New("the file system has no locks")

func lock(ctx context.Context, root *os.Root, how int) (unlock func(), err error) {
	f, err := root.OpenFile(lockFile, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	if err := handOverTo(root, f); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock: %w", err)
	}
	return lockFileBy(ctx, f, how)
}

// lockFileBy locks a file, which unlock or an error closes.
func lockFileBy(ctx context.Context, f *os.File, how int) (unlock func(), err error) {
	const poll = 5 * time.Millisecond
	for {
		err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
		switch {
		case err == nil:
			return func() { f.Close() }, nil
		case errors.Is(err, syscall.EWOULDBLOCK), errors.Is(err, syscall.EINTR):
		case errors.Is(err, errors.ErrUnsupported), errors.Is(err, syscall.ENOLCK):
			f.Close()
			return nil, fmt.Errorf("lock: %w: %w", errNoLocks, err)
		default:
			f.Close()
			return nil, fmt.Errorf("lock: %w", err)
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, bench.WithHint(fmt.Errorf("lock: %w", ctx.Err()), "another process is using the baseline: try again")
		case <-time.After(poll):
		}
	}
}
