package folder

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/baseline/format"
)

// abandoned is the age at which a file that is unfinished, or that nothing refers to, is
// no longer considered part of a save in progress.
const abandoned = time.Hour

// Verify implements Store. It changes nothing.
func (d *Dir) Verify(ctx context.Context) ([]baseline.Problem, error) {
	root, err := d.root()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("verify baseline: %w", err)
	}
	defer root.Close()
	lost, err := unlisted(root)
	if err != nil {
		return nil, fmt.Errorf("verify baseline: %w", err)
	}
	// While the lock is held, nothing is removed.
	unlock, err := shareExisting(ctx, root)
	if err != nil {
		return nil, fmt.Errorf("verify baseline: %w", err)
	}
	defer unlock()
	v := &verifier{dir: d, root: root, unlisted: lost, used: make(map[string]bool), owners: make(map[string][]string)}
	for _, check := range []func(context.Context) error{v.strays, v.index, v.runs, v.tags, v.objects, v.leftovers} {
		if err := check(ctx); err != nil {
			return nil, fmt.Errorf("verify baseline: %w", err)
		}
	}
	return v.problems, nil
}

// verifier collects problems.
type verifier struct {
	dir      *Dir
	root     *os.Root
	problems []baseline.Problem
	// unlisted are the runs that the index lacks and no save will add.
	unlisted []string
	// used are the objects that runs refer to. It is nil if a run cannot be read, because
	// then any object may be used.
	used map[string]bool
	// owners maps objects to the runs that have them, as far as they can be read.
	owners map[string][]string
}

func (v *verifier) report(file string, err error) {
	v.problems = append(v.problems, v.dir.problem(file, err))
}

// reportOld reports a leftover, if it is old enough.
func (v *verifier) reportOld(file string, what string) {
	if !isOld(v.root, file) {
		return
	}
	p := v.dir.problem(file, hinted(errors.New(what), "prune the baseline"))
	p.Leftover = true
	v.problems = append(v.problems, p)
}

// index reports entries that cannot be read, or whose run is missing.
func (v *verifier) index(context.Context) error {
	ids, err := namesOf(v.root, format.IndexKind)
	for _, id := range ids {
		m, err := readMeta(v.root, id)
		if err != nil {
			v.report(format.IndexKind.Path(id), rebuildHint(err))
			continue
		}
		for _, sum := range m.Digests {
			v.used[sum] = true
		}
		if _, err := v.root.Lstat(format.RunKind.Path(id)); err != nil {
			v.report(format.RunKind.Path(id), hinted(missing(err), "import the run again, or prune the baseline, which then forgets it"))
		}
	}
	return err
}

// runs reports runs that cannot be read, whose objects are missing, or whose points or
// index belong to another run.
func (v *verifier) runs(ctx context.Context) error {
	ids, err := namesOf(v.root, format.RunKind)
	for _, id := range ids {
		if err := ctx.Err(); err != nil {
			return err
		}
		s, err := readRun(v.root, id)
		if err != nil {
			v.report(format.RunKind.Path(id), removeHint(err))
			v.used = nil
			continue
		}
		v.derived(s)
		for _, sum := range s.Digests {
			if v.used != nil {
				v.used[sum] = true
			}
			v.owners[sum] = append(v.owners[sum], id)
			if _, err := v.root.Lstat(format.ObjectKind.Path(sum)); err != nil {
				v.report(format.ObjectKind.Path(sum), objectHint(fmt.Errorf("%w: run %s has it", missing(err), id)))
			}
		}
	}
	return err
}

// derived reports files derived from a run that do not match it.
func (v *verifier) derived(s *format.Stored) {
	m, err := readMeta(v.root, s.ID)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if slices.Contains(v.unlisted, s.ID) {
			v.report(format.RunKind.Path(s.ID), errUnlisted)
		}
		return
	case err == nil && !m.Equal(&s.Meta):
		v.report(format.IndexKind.Path(s.ID), rebuildHint(errors.New("it says something else than the run")))
	}
	points, err := readFile(v.root, format.PointsKind, s.ID)
	if err == nil && !bytes.Equal(points, s.Table) {
		err = errors.New("it says something else than the run")
	}
	if err != nil {
		v.report(format.PointsKind.Path(s.ID), rebuildHint(err))
	}
}

func (v *verifier) tags(context.Context) error {
	_, problems, err := v.dir.tags(v.root)
	v.problems = append(v.problems, problems...)
	return err
}

// objects reports objects that cannot be read, or that no run refers to.
func (v *verifier) objects(ctx context.Context) error {
	all, err := namesOf(v.root, format.ObjectKind)
	for _, sum := range all {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := readObject(v.root, sum); err != nil {
			v.report(format.ObjectKind.Path(sum), objectHint(ofRuns(err, v.owners[sum])))
		} else if v.used != nil && !v.used[sum] {
			v.reportOld(format.ObjectKind.Path(sum), "no run refers to the object")
		}
	}
	return err
}

// ofRuns adds to an error which runs have the damaged object: the first, and how many
// more.
func ofRuns(err error, runs []string) error {
	switch n := len(runs); n {
	case 0:
		return err
	case 1:
		return fmt.Errorf("%w: run %s has it", err, runs[0])
	default:
		return fmt.Errorf("%w: run %s and %d more have it", err, runs[0], n-1)
	}
}

func (v *verifier) leftovers(context.Context) error {
	left, err := leftovers(v.root)
	for _, file := range left {
		if !strings.HasPrefix(file, format.IndexKind.Dir+"/") { // index reports these
			v.reportOld(file, "a save that did not end left it behind")
		}
	}
	return err
}
