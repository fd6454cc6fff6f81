package folder

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/baseline/format"
)

// Rebuild derives missing or damaged index and points files again, and returns the runs
// that are themselves damaged.
func (d *Dir) Rebuild(ctx context.Context) ([]baseline.Problem, error) {
	root, err := d.changeable()
	if err != nil {
		return nil, fmt.Errorf("rebuild index: %w", err)
	}
	if root == nil {
		return nil, nil
	}
	defer root.Close()
	if err := d.repair(root); err != nil {
		return nil, fmt.Errorf("rebuild index: %w", err)
	}
	unlock, err := share(ctx, root)
	if err != nil {
		return nil, fmt.Errorf("rebuild index: %w", err)
	}
	defer unlock()
	problems, err := d.rebuild(ctx, root, func(string) bool { return true })
	if err != nil {
		return nil, fmt.Errorf("rebuild index: %w", err)
	}
	return problems, nil
}

// repair makes the missing folders of a store.
func (d *Dir) repair(root *os.Root) error {
	path, err := filepath.Abs(d.path)
	if err != nil {
		return err
	}
	return createDirs(root, filepath.Dir(path))
}

// rebuild is Rebuild for the runs that wanted accepts.
func (d *Dir) rebuild(ctx context.Context, root *os.Root, wanted func(id string) bool) ([]baseline.Problem, error) {
	ids, err := namesOf(root, format.RunKind)
	if err != nil {
		return nil, err
	}
	var problems []baseline.Problem
	for _, id := range ids {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !wanted(id) {
			continue
		}
		s, err := readRun(root, id)
		if err != nil {
			problems = append(problems, d.problem(format.RunKind.Path(id), removeHint(err)))
			continue
		}
		for _, file := range []struct {
			format.Kind
			content []byte
		}{{format.PointsKind, s.Table}, {format.IndexKind, baseline.EncodeMeta(s.Meta)}} {
			if err := put(root, file.Kind, id, file.content); err != nil {
				return nil, err
			}
		}
	}
	return problems, nil
}
