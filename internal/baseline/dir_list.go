package baseline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// List implements Store.
func (d *Dir) List(ctx context.Context, q Query) ([]Meta, []Problem, error) {
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
	runs, err = q.apply(runs)
	return runs, problems, err
}

// list is every run in the index.
func (d *Dir) list(ctx context.Context, root *os.Root) (runs []Meta, problems []Problem, err error) {
	ids, err := namesOf(root, indexKind)
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
		case errors.Is(err, fs.ErrNotExist): // removed a moment ago
		case err != nil:
			problems = append(problems, d.problem(indexKind.path(id), rebuildHint(err)))
		default:
			m.Tags = tags[id]
			runs = append(runs, m)
		}
	}
	return runs, problems, nil
}

// readMeta reads the index file of that ID.
func readMeta(root *os.Root, id string) (Meta, error) {
	content, err := readFile(root, indexKind, id)
	if err != nil {
		return Meta{}, err
	}
	m, err := decodeMeta(content)
	if err == nil && m.ID != id {
		err = fmt.Errorf("it is of the run %s", m.ID)
	}
	return m, err
}

// tags is the tags of all runs, by ID.
func (d *Dir) tags(root *os.Root) (map[string][]string, []Problem, error) {
	files, err := namesOf(root, tagKind)
	if err != nil {
		return nil, nil, err
	}
	tags := make(map[string][]string)
	var problems []Problem
	for _, name := range files {
		t, err := readTag(root, name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			problems = append(problems, d.problem(tagKind.path(name), tagHint(err)))
		default:
			tags[t.ID] = append(tags[t.ID], t.Tag)
		}
	}
	for _, of := range tags {
		slices.Sort(of)
	}
	return tags, problems, nil
}

func readTag(root *os.Root, name string) (tagFile, error) {
	content, err := readFile(root, tagKind, name)
	if err != nil {
		return tagFile{}, err
	}
	return decodeTag(name, content)
}

// tagsOf is the tags of one run, without those that are damaged.
func tagsOf(root *os.Root, id string) ([]string, error) {
	files, err := namesOf(root, tagKind)
	if err != nil {
		return nil, err
	}
	var tags []string
	for _, name := range files {
		if taggedRun(name) != id {
			continue
		}
		if t, err := readTag(root, name); err == nil {
			tags = append(tags, t.Tag)
		}
	}
	slices.Sort(tags)
	return tags, nil
}
