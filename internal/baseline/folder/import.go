package folder

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/baseline/format"
)

// Import adds the runs of an export and returns them. It adds nothing unless the whole
// export is valid: its names, sizes, digests and versions, and that each run has its
// objects. Existing runs stay as they are and get the tags from the export too.
func (d *Dir) Import(ctx context.Context, r io.Reader) ([]baseline.Meta, error) {
	runs, err := d.doImport(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("import runs: %w", err)
	}
	return runs, nil
}

func (d *Dir) doImport(ctx context.Context, r io.Reader) ([]baseline.Meta, error) {
	a, err := readArchive(ctx, r)
	if err != nil {
		if ctx.Err() == nil {
			err = hinted(err, "nothing was imported: export the runs again")
		}
		return nil, err
	}
	root, err := d.create()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var runs []baseline.Meta
	for _, id := range slices.Sorted(maps.Keys(a.files[format.RunKind.Dir])) {
		m, err := a.add(ctx, root, id)
		if err != nil {
			return nil, err
		}
		runs = append(runs, m)
	}
	return runs, nil
}

// add adds the run with that ID to a store.
func (a *archive) add(ctx context.Context, root *os.Root, id string) (baseline.Meta, error) {
	content, err := format.Unseal(format.RunKind, a.files[format.RunKind.Dir][id])
	if err != nil {
		return baseline.Meta{}, err
	}
	s, err := format.DecodeRun(content)
	if err != nil {
		return baseline.Meta{}, err
	}
	objects := make(map[string][]byte)
	for _, sum := range s.Digests {
		if objects[sum], err = format.Unseal(format.ObjectKind, a.files[format.ObjectKind.Dir][sum]); err != nil {
			return baseline.Meta{}, err
		}
	}
	return add(ctx, root, s, objects, a.tags[id])
}
