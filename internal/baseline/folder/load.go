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

// Load implements Store.
func (d *Dir) Load(ctx context.Context, id string) (*baseline.Entry, error) {
	e, err := d.load(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("load run: %w", err)
	}
	return e, nil
}

func (d *Dir) load(ctx context.Context, id string) (*baseline.Entry, error) {
	if err := baseline.CheckID(id); err != nil {
		return nil, err
	}
	root, err := d.root()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", id, baseline.ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	s, err := readRun(root, id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", id, baseline.ErrNotFound)
	}
	if err != nil {
		return nil, d.problem(format.RunKind.Path(id), removeHint(err))
	}
	if s.Tags, err = tagsOf(root, id); err != nil {
		return nil, err
	}
	s.Objects = make(map[string][]byte, len(s.Digests))
	for _, sum := range s.Digests {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		data, err := readObject(root, sum)
		if err != nil {
			return nil, d.problem(format.ObjectKind.Path(sum), objectHint(fmt.Errorf("%w: run %s has it", missing(err), id)))
		}
		s.Objects[sum] = data
	}
	return &s.Entry, nil
}

func readObject(root *os.Root, sum string) ([]byte, error) {
	data, err := readFile(root, format.ObjectKind, sum)
	if err != nil {
		return nil, err
	}
	return data, checkObject(sum, data)
}
