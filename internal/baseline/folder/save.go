package folder

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/baseline/format"
	"github.com/org/ebpf-bench-action/internal/bench"
)

// Save implements Store.
func (d *Dir) Save(ctx context.Context, e *baseline.Entry) (baseline.Meta, error) {
	m, err := d.save(ctx, e)
	if err != nil {
		return baseline.Meta{}, fmt.Errorf("save run: %w", err)
	}
	return m, nil
}

func (d *Dir) save(ctx context.Context, e *baseline.Entry) (baseline.Meta, error) {
	s, err := format.EncodeRun(e)
	if err != nil {
		return baseline.Meta{}, err
	}
	for sum, data := range e.Objects {
		if err := checkObject(sum, data); err != nil {
			return baseline.Meta{}, err
		}
	}
	for _, tag := range e.Tags {
		if err := baseline.CheckName("tag", tag); err != nil {
			return baseline.Meta{}, err
		}
	}
	root, err := d.create()
	if err != nil {
		return baseline.Meta{}, err
	}
	defer root.Close()
	return add(ctx, root, s, e.Objects, e.Tags)
}

func checkObject(sum string, data []byte) error {
	if int64(len(data)) > format.MaxObject {
		return fmt.Errorf("object %.80q: %w", sum, format.TooLarge(int64(len(data)), format.MaxObject))
	}
	if got := sha256.Sum256(data); hex.EncodeToString(got[:]) != sum {
		return fmt.Errorf("object %.80q has another SHA-256, %x", sum, got)
	}
	return nil
}

// add adds a whole run. If it fails, it leaves nothing that could later be mistaken for a
// saved run.
func add(ctx context.Context, root *os.Root, s *format.Stored, objects map[string][]byte, tags []string) (baseline.Meta, error) {
	unlock, err := share(ctx, root)
	if err != nil {
		return baseline.Meta{}, err
	}
	defer unlock()
	_, missing := root.Lstat(format.RunKind.Path(s.ID))
	if err := writeAll(ctx, root, s, objects, tags); err != nil {
		if errors.Is(missing, fs.ErrNotExist) {
			unlock()
			err = errors.Join(err, withdraw(ctx, root, s.ID))
		}
		return baseline.Meta{}, err
	}
	s.Tags, err = tagsOf(root, s.ID)
	return s.Meta, err
}

// withdraw removes a run whose save failed, unless another process has saved the same run
// meanwhile.
func withdraw(ctx context.Context, root *os.Root, id string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), withdrawTime)
	defer cancel()
	unlock, err := holdAlone(ctx, root)
	if err != nil && !errors.Is(err, errNoLocks) {
		return err
	}
	if err == nil {
		defer unlock()
	}
	if _, err := root.Lstat(format.IndexKind.Path(id)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return removeAllOf(root, id)
}

const withdrawTime = 10 * time.Second

// writeAll writes all files of a run, the index last, so that every listed run is whole.
func writeAll(ctx context.Context, root *os.Root, s *format.Stored, objects map[string][]byte, tags []string) error {
	for _, sum := range slices.Sorted(maps.Keys(objects)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := put(root, format.ObjectKind, sum, objects[sum]); err != nil {
			return err
		}
	}
	if err := addRun(root, s); err != nil {
		return err
	}
	for _, tag := range tags {
		t := format.TagFile{ID: s.ID, Tag: tag}
		if err := put(root, format.TagKind, t.Name(), t.Encode()); err != nil {
			return err
		}
	}
	return put(root, format.IndexKind, s.ID, baseline.EncodeMeta(s.Meta))
}

// addRun writes a run and its points.
func addRun(root *os.Root, s *format.Stored) error {
	// An ID is the beginning of a digest: chance will hardly make two equal, but a
	// stranger can.
	old, err := readRun(root, s.ID)
	if err == nil && !slices.Equal(old.Content, s.Content) {
		return bench.WithHint(
			errors.New("another run has the ID "+s.ID),
			"measure again: a run of another second has another ID")
	}
	if err := put(root, format.RunKind, s.ID, s.Content); err != nil {
		return err
	}
	return put(root, format.PointsKind, s.ID, s.Table)
}

// readRun reads the run file with that ID.
func readRun(root *os.Root, id string) (*format.Stored, error) {
	content, err := readFile(root, format.RunKind, id)
	if err != nil {
		return nil, err
	}
	s, err := format.DecodeRun(content)
	if err != nil {
		return nil, err
	}
	if s.ID != id {
		return nil, fmt.Errorf("it holds the run %s", s.ID)
	}
	return s, nil
}
