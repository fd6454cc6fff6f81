package folder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/baseline/format"
)

// Remove removes a run with its tags, and the objects that no other run has. The error is
// ErrNotFound if the run has no file. For a damaged run, it removes the files that exist.
func (d *Dir) Remove(ctx context.Context, id string) error {
	if err := d.removeRun(ctx, id); err != nil {
		return fmt.Errorf("remove run: %w", err)
	}
	return nil
}

func (d *Dir) removeRun(ctx context.Context, id string) error {
	if err := baseline.CheckID(id); err != nil {
		return err
	}
	root, err := d.existing()
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrNoStore) {
		return fmt.Errorf("%s: %w", id, baseline.ErrNotFound)
	}
	if err != nil {
		return err
	}
	defer root.Close()
	unlock, err := holdAlone(ctx, root)
	if err != nil {
		return err
	}
	defer unlock()
	if !slices.ContainsFunc([]format.Kind{format.RunKind, format.IndexKind}, func(k format.Kind) bool {
		_, err := root.Lstat(k.Path(id))
		return err == nil
	}) {
		return fmt.Errorf("%s: %w", id, baseline.ErrNotFound)
	}
	if err := removeAllOf(root, id); err != nil {
		return err
	}
	rest, err := d.allRuns(ctx, root)
	if err != nil || !rest.known {
		return err
	}
	_, err = removeObjects(root, rest.runs)
	return err
}

// removeAllOf removes the files of a run, except its objects.
func removeAllOf(root *os.Root, id string) error {
	tags, err := namesOf(root, format.TagKind)
	if err != nil {
		return err
	}
	if err := removeRuns(root, []baseline.Meta{{ID: id}}); err != nil {
		return err
	}
	for _, name := range tags {
		if format.TaggedRun(name) != id {
			continue
		}
		if err := remove(root, format.TagKind.Path(name)); err != nil {
			return err
		}
	}
	return nil
}
