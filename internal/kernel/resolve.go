package kernel

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/org/ebpf-bench-action/internal/filelock"
	"github.com/org/ebpf-bench-action/internal/kernel/uname"
)

// Resolve returns the kernel with a name from the cache, or loads it with Load and adds it
// to the cache. It replaces a damaged kernel if its version can be loaded again.
func (c *Cache) Resolve(ctx context.Context, name string) (*Kernel, error) {
	k, err := c.Get(name)
	var damaged *damagedError
	if errors.Is(err, ErrNotCached) || errors.As(err, &damaged) && uname.IsVersion(name) {
		return c.load(ctx, name)
	}
	return k, err
}

// Check reports without loading anything whether a name is ErrUnknown.
func (c *Cache) Check(name string) error {
	if _, err := c.find(name); !errors.Is(err, ErrNotCached) {
		return err
	}
	return checkWord(name)
}

// hostEntry returns the running kernel of this machine, if a user who may read it added
// it, else nil.
func (c *Cache) hostEntry() *Entry {
	release, err := hostRelease()
	if err != nil {
		return nil
	}
	all, err := c.List()
	if err != nil {
		return nil
	}
	for _, e := range slices.Backward(all) {
		if e.Release == release && e.Origin == originHost {
			return &e
		}
	}
	return nil
}

func (c *Cache) load(ctx context.Context, name string) (*Kernel, error) {
	unlock, err := c.lock(ctx, name)
	if err != nil {
		return nil, err
	}
	defer unlock()
	// Another process may have loaded it in the meantime.
	k, cached := c.Get(name)
	if cached == nil {
		return k, nil
	}
	k, err = c.source(ctx, name)
	if name == "host" && errors.Is(err, fs.ErrPermission) {
		if kept := c.hostEntry(); kept != nil {
			return c.open(*kept)
		}
	}
	var damaged *damagedError
	if errors.As(cached, &damaged) {
		if err != nil {
			return nil, fmt.Errorf("%w; replacing it failed: %w", cached, err)
		}
		if err := damaged.Entry.remove(); err != nil {
			return nil, err
		}
	}
	if err != nil {
		return nil, err
	}
	e, err := c.Add(k)
	if err != nil {
		return nil, err
	}
	return c.open(e)
}

// lock waits until no other process holds the lock of that name, and holds it until
// unlock. It only avoids duplicate work. Nothing breaks if two processes hold it: on a
// file system without locks, or when a third comes in the moment that the first removes
// the file.
func (c *Cache) lock(ctx context.Context, name string) (unlock func(), err error) {
	// A name may be any text, a file name may not.
	file := fmt.Sprintf(".lock-%x", sha256.Sum256([]byte(name)))
	f, err := os.OpenFile(filepath.Join(c.dir, file), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock kernel cache: %w", err)
	}
	if _, err := filelock.Wait(ctx, f); err != nil {
		f.Close()
		return nil, err
	}
	return func() { os.Remove(f.Name()); f.Close() }, nil
}
