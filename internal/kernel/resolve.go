package kernel

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/org/ebpf-bench-action/internal/kernel/uname"
)

// Resolve is the kernel of a name: the one that the cache has, else the one
// that Load gets, which the cache has from then on. A damaged one is replaced
// where its version can be had again.
func (c *Cache) Resolve(ctx context.Context, name string) (*Kernel, error) {
	k, err := c.Get(name)
	var damaged *DamagedError
	if errors.Is(err, ErrNotCached) || errors.As(err, &damaged) && uname.IsVersion(name) {
		return c.load(ctx, name)
	}
	return k, err
}

// Check tells at once, without getting anything, that a name is ErrUnknown.
func (c *Cache) Check(name string) error {
	if _, err := c.find(name); !errors.Is(err, ErrNotCached) {
		return err
	}
	return checkWord(name)
}

// hostEntry is the kernel that this machine runs, where one who may read it added
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
	// Another process may have got it in the meantime.
	k, cached := c.Get(name)
	if cached == nil {
		return k, nil
	}
	k, err = c.source(ctx, name)
	if name == "host" && errors.Is(err, fs.ErrPermission) {
		if kept := c.hostEntry(); kept != nil {
			return c.Open(*kept)
		}
	}
	var damaged *DamagedError
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
	return c.Open(e)
}
