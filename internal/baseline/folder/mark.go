package folder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/baseline/format"
)

// Tag implements Store.
func (d *Dir) Tag(ctx context.Context, id, tag string) error {
	err := d.withRun(ctx, id, tag, func(root *os.Root, t format.TagFile) error {
		return put(root, format.TagKind, t.Name(), t.Encode())
	})
	if err != nil {
		return fmt.Errorf("tag run: %w", err)
	}
	return nil
}

// Untag implements Store. It also removes the file of that tag if it is damaged.
func (d *Dir) Untag(ctx context.Context, id, tag string) error {
	err := d.withRun(ctx, id, tag, func(root *os.Root, t format.TagFile) error {
		err := root.Remove(format.TagKind.Path(t.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("run %s has no tag %q: %w", id, tag, baseline.ErrNotFound)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("untag run: %w", err)
	}
	return nil
}

// withRun runs do on a tag of a run, and keeps the run from being removed meanwhile.
func (d *Dir) withRun(ctx context.Context, id, tag string, do func(*os.Root, format.TagFile) error) error {
	if err := baseline.CheckID(id); err != nil {
		return err
	}
	if err := baseline.CheckName("tag", tag); err != nil {
		return err
	}
	root, err := d.root()
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", id, baseline.ErrNotFound)
	}
	if err != nil {
		return err
	}
	defer root.Close()
	exists := func() error {
		if _, err := root.Lstat(format.RunKind.Path(id)); err != nil {
			return fmt.Errorf("%s: %w", id, baseline.ErrNotFound)
		}
		return nil
	}
	// Do not create a lock if there is no such run.
	if err := exists(); err != nil {
		return err
	}
	unlock, err := share(ctx, root)
	if err != nil {
		return err
	}
	defer unlock()
	if err := exists(); err != nil {
		return err
	}
	return do(root, format.TagFile{ID: id, Tag: tag})
}
