package baseline

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
)

// Import adds the runs of an export and tells which. Nothing is added unless
// all of the export is as it should be: its names, sizes, digests and versions,
// and that each run has its objects. Runs that are there already stay as
// they are and get the tags of the export too.
func (d *Dir) Import(ctx context.Context, r io.Reader) ([]Meta, error) {
	runs, err := d.doImport(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("import runs: %w", err)
	}
	return runs, nil
}

func (d *Dir) doImport(ctx context.Context, r io.Reader) ([]Meta, error) {
	a, err := readArchive(ctx, r)
	if err != nil {
		return nil, hinted(err, "Nothing was imported. Export the runs again.")
	}
	root, err := d.create()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var runs []Meta
	for _, id := range slices.Sorted(maps.Keys(a.files[runKind.dir])) {
		m, err := a.add(ctx, root, id)
		if err != nil {
			return nil, err
		}
		runs = append(runs, m)
	}
	return runs, nil
}

// add adds the run of that ID to a store.
func (a *archive) add(ctx context.Context, root *os.Root, id string) (Meta, error) {
	content, err := unseal(runKind, a.files[runKind.dir][id])
	if err != nil {
		return Meta{}, err
	}
	s, err := decodeRun(content)
	if err != nil {
		return Meta{}, err
	}
	objects := make(map[string][]byte)
	for _, sum := range s.Digests {
		if objects[sum], err = unseal(objectKind, a.files[objectKind.dir][sum]); err != nil {
			return Meta{}, err
		}
	}
	return add(ctx, root, s, objects, a.tags[id])
}
