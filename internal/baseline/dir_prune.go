package baseline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// Pruned is what Prune removed, and what it met.
type Pruned struct {
	// Runs were removed, Objects is the number of objects no run refers to any
	// more, Leftovers that of files which killed processes left behind.
	Runs      []Meta
	Objects   int
	Leftovers int
	// Problems are files that are damaged. They stay.
	Problems []Problem
}

// Prune implements Store. It waits for saves that are under way, and they for
// it, so that whatever it finds unfinished is abandoned. It can be killed at
// any time: the next one goes on.
func (d *Dir) Prune(ctx context.Context, keep int) (Pruned, error) {
	p, err := d.prune(ctx, keep)
	if err != nil {
		return Pruned{}, fmt.Errorf("prune baseline: %w", err)
	}
	return p, nil
}

func (d *Dir) prune(ctx context.Context, keep int) (Pruned, error) {
	if keep < 1 {
		return Pruned{}, fmt.Errorf("keep %d runs: at least 1 stays", keep)
	}
	root, err := d.existing()
	if errors.Is(err, fs.ErrNotExist) {
		return Pruned{}, nil
	}
	if err != nil {
		return Pruned{}, err
	}
	defer root.Close()
	unlock, err := holdAlone(ctx, root)
	if err != nil {
		return Pruned{}, err
	}
	defer unlock()

	var p Pruned
	unlisted := func(id string) bool { _, err := readMeta(root, id); return err != nil }
	unreadable, err := d.rebuild(ctx, root, unlisted)
	if err != nil {
		return Pruned{}, err
	}
	if p.Leftovers, err = removeLeftovers(root); err != nil {
		return Pruned{}, err
	}
	runs, problems, err := d.list(ctx, root)
	if err != nil {
		return Pruned{}, err
	}
	p.Problems = append(unreadable, problems...)
	tagged, err := taggedRuns(root)
	if err != nil {
		return Pruned{}, err
	}
	var kept []Meta
	kept, p.Runs = retain(runs, keep, tagged)
	if err := removeRuns(root, p.Runs); err != nil {
		return Pruned{}, err
	}
	// What a run refers to that cannot be read, perhaps because a later
	// ebpf-bench wrote it, is not known: then every object stays.
	if len(unreadable) == 0 {
		p.Objects, err = removeObjects(root, kept)
	}
	return p, err
}

// taggedRuns is the IDs that have a tag, also one that cannot be read.
func taggedRuns(root *os.Root) (map[string]bool, error) {
	files, err := namesOf(root, tagKind)
	tagged := make(map[string]bool)
	for _, name := range files {
		tagged[taggedRun(name)] = true
	}
	return tagged, err
}

// retain parts runs into those that stay and those that go, each the newest
// first.
func retain(runs []Meta, keep int, tagged map[string]bool) (kept, gone []Meta) {
	type group struct{ branch, testbed string }
	seen := make(map[group]int)
	slices.SortFunc(runs, newestFirst)
	for _, m := range runs {
		g := group{m.Branch, m.Testbed}
		if seen[g]++; seen[g] <= keep || tagged[m.ID] {
			kept = append(kept, m)
		} else {
			gone = append(gone, m)
		}
	}
	return kept, gone
}

// removeRuns removes runs, from the index first and for good, so that what is
// listed is whole.
func removeRuns(root *os.Root, runs []Meta) error {
	if len(runs) == 0 {
		return nil
	}
	for _, k := range []kind{indexKind, runKind, pointsKind} {
		for _, m := range runs {
			if err := remove(root, k.path(m.ID)); err != nil {
				return err
			}
		}
		if err := syncDir(root, k.dir); err != nil {
			return err
		}
	}
	return nil
}

// removeObjects removes the objects that no run refers to.
func removeObjects(root *os.Root, runs []Meta) (int, error) {
	used := make(map[string]bool)
	for _, m := range runs {
		for _, sum := range m.Digests {
			used[sum] = true
		}
	}
	all, err := namesOf(root, objectKind)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, sum := range all {
		if used[sum] {
			continue
		}
		if err := remove(root, objectKind.path(sum)); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
