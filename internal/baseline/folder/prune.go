package folder

import (
	"cmp"
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

// Prune implements Store. Prune and saves wait for each other, so every unfinished file
// that it finds is abandoned. It can be killed at any time: the next one continues. If it
// fails to repair the index afterwards, it still returns what it has removed.
func (d *Dir) Prune(ctx context.Context, keep int) (baseline.Pruned, error) {
	p, err := d.prune(ctx, keep)
	if err != nil {
		err = fmt.Errorf("prune baseline: %w", err)
	}
	return p, err
}

func (d *Dir) prune(ctx context.Context, keep int) (baseline.Pruned, error) {
	if keep < 1 {
		return baseline.Pruned{}, fmt.Errorf("keep %d runs: at least 1 stays", keep)
	}
	root, err := d.changeable()
	if root == nil || err != nil {
		return baseline.Pruned{}, err
	}
	defer root.Close()
	unlock, err := holdAlone(ctx, root)
	if err != nil {
		return baseline.Pruned{}, err
	}
	defer unlock()

	var p baseline.Pruned
	all, err := d.allRuns(ctx, root)
	if err != nil {
		return baseline.Pruned{}, err
	}
	p.Problems = all.problems
	// Remove everything before writing anything: the disk may be full.
	if p.Leftovers, err = removeLeftovers(root); err != nil {
		return baseline.Pruned{}, err
	}
	tagged, err := taggedRuns(root)
	if err != nil {
		return baseline.Pruned{}, err
	}
	var kept []baseline.Meta
	kept, p.Runs = retain(all.runs, keep, tagged, arrival(root, time.Now()))
	if err := removeRuns(root, p.Runs); err != nil {
		return baseline.Pruned{}, err
	}
	if all.known {
		if p.Objects, err = removeObjects(root, kept); err != nil {
			return baseline.Pruned{}, err
		}
	}
	return p, d.relist(ctx, root, all.unlisted)
}

// allRuns is the known runs while nobody adds any.
type allRuns struct {
	// runs can be read; unlisted are those of them whose index cannot.
	runs     []baseline.Meta
	unlisted map[string]bool
	problems []baseline.Problem
	// known says that all could be read. Otherwise every object stays, because the runs
	// that could not be read, perhaps written by a later ebpf-bench, may refer to it.
	known bool
}

func (d *Dir) allRuns(ctx context.Context, root *os.Root) (*allRuns, error) {
	ids, err := namesOf(root, format.RunKind)
	if err != nil {
		return nil, err
	}
	tags, problems, err := d.tags(root)
	if err != nil {
		return nil, err
	}
	all := &allRuns{unlisted: make(map[string]bool), problems: problems, known: true}
	for _, id := range ids {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		m, listErr := readMeta(root, id)
		if listErr != nil {
			s, err := readRun(root, id)
			if err != nil {
				all.known = false
				all.problems = append(all.problems, d.problem(format.RunKind.Path(id), removeHint(err)))
				if !errors.Is(listErr, fs.ErrNotExist) {
					all.problems = append(all.problems, d.problem(format.IndexKind.Path(id), rebuildHint(listErr)))
				}
				continue
			}
			m, all.unlisted[id] = s.Meta, true
		}
		m.Tags = tags[id]
		all.runs = append(all.runs, m)
	}
	return all, nil
}

// relist rebuilds the index of those runs that still exist.
func (d *Dir) relist(ctx context.Context, root *os.Root, ids map[string]bool) error {
	if len(ids) == 0 {
		return nil
	}
	if err := d.repair(root); err != nil {
		return err
	}
	_, err := d.rebuild(ctx, root, func(id string) bool { return ids[id] })
	return err
}

// taggedRuns returns the IDs that have a tag, even one that cannot be read.
func taggedRuns(root *os.Root) (map[string]bool, error) {
	files, err := namesOf(root, format.TagKind)
	tagged := make(map[string]bool)
	for _, name := range files {
		tagged[format.TaggedRun(name)] = true
	}
	return tagged, err
}

// arrival returns the time that decides how new a run is: its own, unless the clock that
// it was measured by was ahead, and then the time when it came to the store.
func arrival(root *os.Root, now time.Time) func(baseline.Meta) time.Time {
	return func(m baseline.Meta) time.Time {
		if !m.Time.After(now) {
			return m.Time
		}
		st, err := root.Lstat(format.RunKind.Path(m.ID))
		if err != nil || st.ModTime().After(now) {
			return now
		}
		return st.ModTime()
	}
}

// retain splits runs into those that stay and those that go, each the newest first.
func retain(runs []baseline.Meta, keep int, tagged map[string]bool, arrival func(baseline.Meta) time.Time) (kept, gone []baseline.Meta) {
	type group struct{ branch, testbed string }
	seen := make(map[group]int)
	slices.SortFunc(runs, func(a, b baseline.Meta) int {
		return cmp.Or(arrival(b).Compare(arrival(a)), baseline.NewestFirst(a, b))
	})
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

// removeRuns removes runs, from the index first and durably, so that every listed run is
// whole.
func removeRuns(root *os.Root, runs []baseline.Meta) error {
	if len(runs) == 0 {
		return nil
	}
	for _, k := range []format.Kind{format.IndexKind, format.RunKind, format.PointsKind} {
		for _, m := range runs {
			if err := remove(root, k.Path(m.ID)); err != nil {
				return err
			}
		}
		if err := syncDir(root, k.Dir); err != nil {
			return err
		}
	}
	return nil
}

// removeObjects removes the objects that no run refers to.
func removeObjects(root *os.Root, runs []baseline.Meta) (int, error) {
	used := make(map[string]bool)
	for _, m := range runs {
		for _, sum := range m.Digests {
			used[sum] = true
		}
	}
	all, err := namesOf(root, format.ObjectKind)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, sum := range all {
		if used[sum] {
			continue
		}
		if err := remove(root, format.ObjectKind.Path(sum)); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
