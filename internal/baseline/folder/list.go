package folder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/baseline/format"
)

// List implements Store.
func (d *Dir) List(ctx context.Context, q baseline.Query) ([]baseline.Meta, []baseline.Problem, error) {
	root, err := d.root()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("list runs: %w", err)
	}
	defer root.Close()
	runs, problems, err := d.list(ctx, root)
	if err != nil {
		return nil, nil, fmt.Errorf("list runs: %w", err)
	}
	runs, err = q.Apply(runs)
	return runs, problems, err
}

// list returns every run in the index.
func (d *Dir) list(ctx context.Context, root *os.Root) (runs []baseline.Meta, problems []baseline.Problem, err error) {
	ids, err := namesOf(root, format.IndexKind)
	if err != nil {
		return nil, nil, err
	}
	tags, problems, err := d.tags(root)
	if err != nil {
		return nil, nil, err
	}
	for _, id := range ids {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		m, err := readMeta(root, id)
		switch {
		case errors.Is(err, fs.ErrNotExist): // removed in the meantime
		case err != nil:
			problems = append(problems, d.problem(format.IndexKind.Path(id), rebuildHint(err)))
		default:
			m.Tags = tags[id]
			runs = append(runs, m)
		}
	}
	lost, err := unlisted(root)
	for _, id := range lost {
		problems = append(problems, d.problem(format.RunKind.Path(id), errUnlisted))
	}
	return runs, problems, err
}

// errUnlisted says that the index lacks a run.
var errUnlisted = hinted(errors.New("the run is not in the index: its save did not end, or the index is damaged"),
	"it derives from the run: rebuild it, or remove the run")

// unlisted returns the IDs of the runs that the index lacks, except those that a save in
// progress may be about to add.
func unlisted(root *os.Root) ([]string, error) {
	lost, err := withoutIndex(root)
	if err != nil || len(lost) == 0 {
		return nil, err
	}
	idle, err := isIdle(root, func() error {
		// The save may have ended since.
		lost, err = withoutIndex(root)
		return err
	})
	if err != nil || idle {
		return lost, err
	}
	return slices.DeleteFunc(lost, func(id string) bool { return !isOld(root, format.RunKind.Path(id)) }), nil
}

// withoutIndex returns the IDs of the runs that have no index file.
func withoutIndex(root *os.Root) ([]string, error) {
	ids, err := namesOf(root, format.RunKind)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(ids, func(id string) bool {
		_, err := root.Lstat(format.IndexKind.Path(id))
		return !errors.Is(err, fs.ErrNotExist)
	}), nil
}

// isOld reports whether a file is too old to be part of a save in progress.
func isOld(root *os.Root, file string) bool {
	st, err := root.Lstat(file)
	return err == nil && time.Since(st.ModTime()) >= abandoned
}

// readMeta reads the index file of a run.
func readMeta(root *os.Root, id string) (baseline.Meta, error) {
	content, err := readFile(root, format.IndexKind, id)
	if err != nil {
		return baseline.Meta{}, err
	}
	m, err := baseline.DecodeMeta(content)
	if err == nil && m.ID != id {
		err = fmt.Errorf("it belongs to run %s", m.ID)
	}
	return m, err
}

// tags returns the tags of all runs, by ID.
func (d *Dir) tags(root *os.Root) (map[string][]string, []baseline.Problem, error) {
	files, err := namesOf(root, format.TagKind)
	if err != nil {
		return nil, nil, err
	}
	tags := make(map[string][]string)
	var problems []baseline.Problem
	for _, name := range files {
		t, err := readTag(root, name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			problems = append(problems, d.problem(format.TagKind.Path(name), tagHint(err)))
		default:
			tags[t.ID] = append(tags[t.ID], t.Tag)
		}
	}
	for _, of := range tags {
		slices.Sort(of)
	}
	return tags, problems, nil
}

func readTag(root *os.Root, name string) (format.TagFile, error) {
	content, err := readFile(root, format.TagKind, name)
	if err != nil {
		return format.TagFile{}, err
	}
	return format.DecodeTag(name, content)
}

// tagsOf returns the tags of one run, without damaged ones.
func tagsOf(root *os.Root, id string) ([]string, error) {
	files, err := namesOf(root, format.TagKind)
	if err != nil {
		return nil, err
	}
	var tags []string
	for _, name := range files {
		if format.TaggedRun(name) != id {
			continue
		}
		if t, err := readTag(root, name); err == nil {
			tags = append(tags, t.Tag)
		}
	}
	slices.Sort(tags)
	return tags, nil
}
