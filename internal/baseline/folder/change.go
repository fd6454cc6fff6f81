package folder

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/bench"
)

// Save implements Store.
func (d *Dir) Save(ctx context.Context, e *baseline.Entry) (baseline.Meta, error) {
	s, err := encode(e)
	if err != nil {
		return baseline.Meta{}, fmt.Errorf("save run: %w", err)
	}
	runs, err := d.add(ctx, s)
	if err != nil {
		return baseline.Meta{}, fmt.Errorf("save run: %w", err)
	}
	return runs[0], nil
}

// add adds runs, and returns how they are filed. Those that exist get the tags too. Those
// that exist and are damaged are replaced.
func (d *Dir) add(ctx context.Context, all ...*stored) (runs []baseline.Meta, err error) {
	root, err := d.create()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	err = d.change(ctx, root, func(scratch string) error {
		objects, err := d.newest(root)
		if err != nil {
			return err
		}
		for _, s := range all {
			m, err := d.addOne(ctx, root, scratch, s, objects)
			if err != nil {
				return err
			}
			runs = append(runs, m)
		}
		return nil
	})
	return runs, err
}

// newest returns the objects of the newest runs, by the names of their files.
func (d *Dir) newest(root *os.Root) (map[string]string, error) {
	const many = 16
	ids, err := runIDs(root)
	if err != nil {
		return nil, err
	}
	objects := make(map[string]string)
	for _, id := range ids[max(0, len(ids)-many):] {
		dir := runsDir + "/" + id
		files, _ := names(root, dir) // of what cannot be read there is no object
		for _, name := range slices.DeleteFunc(files, func(name string) bool { return len(name) != len(objectFile(sumOf(nil))) }) {
			objects[name] = dir + "/" + name
		}
	}
	return objects, nil
}

// addOne adds one run, with hard links to those objects that are there.
func (d *Dir) addOne(ctx context.Context, root *os.Root, scratch string, s *stored, objects map[string]string) (baseline.Meta, error) {
	dir := runsDir + "/" + s.ID
	old, err := d.load(ctx, root, s.ID)
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return baseline.Meta{}, err
	}
	if err == nil {
		if meta, err := readRaw(root, dir+"/"+metaFile, maxMeta); err != nil || !bytes.Equal(meta, s.files[metaFile]) {
			// Chance will hardly give two runs one ID, but a stranger can.
			return baseline.Meta{}, bench.WithHint(errors.New("another run has the ID "+s.ID), "measure again: a run of another second has another ID")
		}
		for name := range s.files {
			if _, ok := tagOf(name); ok && !exists(root, dir+"/"+name) {
				if err := writeNew(root, dir+"/"+name, nil); err != nil {
					return baseline.Meta{}, err
				}
			}
		}
		m := old.Meta
		m.Tags = tagsIn(root, dir)
		return m, syncDir(root, dir)
	}
	tags := tagsIn(root, dir) // of a damaged run
	temp := scratch + "/" + newName()
	if err := makeIn(root, temp); err != nil {
		return baseline.Meta{}, err
	}
	for _, tag := range tags {
		if name, err := tagFile(tag); err == nil {
			s.files[name] = nil
		}
	}
	for name, data := range s.files {
		if err := ctx.Err(); err != nil {
			return baseline.Meta{}, err
		}
		if link(root, objects[name], data, temp+"/"+name) {
			continue
		}
		if err := writeNew(root, temp+"/"+name, data); err != nil {
			return baseline.Meta{}, err
		}
	}
	if err := syncDir(root, temp); err != nil {
		return baseline.Meta{}, err
	}
	if err := replace(root, temp, dir, scratch); err != nil {
		return baseline.Meta{}, err
	}
	m := s.Meta
	m.Tags = tagsIn(root, dir)
	return m, syncDir(root, runsDir)
}

// replace moves a folder to where another may be, which goes to scratch: at once, where the
// file system can exchange two.
func replace(root *os.Root, from, to, scratch string) error {
	if !exists(root, to) {
		return root.Rename(from, to)
	}
	at, err := root.Open(".")
	if err != nil {
		return err
	}
	defer at.Close()
	fd := int(at.Fd())
	if unix.Renameat2(fd, from, fd, to, unix.RENAME_EXCHANGE) == nil {
		return nil
	}
	return cmp.Or(root.Rename(to, scratch+"/"+newName()), root.Rename(from, to))
}

// link makes a hard link to a file, if that has this content, and reports whether it did.
func link(root *os.Root, file string, data []byte, name string) bool {
	if file == "" {
		return false
	}
	old, err := readRaw(root, file, int64(len(data)))
	return err == nil && bytes.Equal(old, data) && root.Link(file, name) == nil
}

// tagsIn returns the tags of the run in a folder, which need not exist.
func tagsIn(root *os.Root, dir string) []string {
	in, err := root.OpenRoot(dir)
	if err != nil {
		return nil
	}
	defer in.Close()
	return (&runFolder{root: in}).tags()
}

// Tag implements Store.
func (d *Dir) Tag(ctx context.Context, id, tag string) error {
	err := d.changeRun(ctx, id, func(root *os.Root, dir, _ string) error {
		name, err := tagFile(tag)
		if err != nil || exists(root, dir+"/"+name) {
			return err
		}
		return cmp.Or(writeNew(root, dir+"/"+name, nil), syncDir(root, dir))
	})
	if err != nil {
		return fmt.Errorf("tag run: %w", err)
	}
	return nil
}

// Untag implements Store.
func (d *Dir) Untag(ctx context.Context, id, tag string) error {
	err := d.changeRun(ctx, id, func(root *os.Root, dir, _ string) error {
		name, err := tagFile(tag)
		if err != nil {
			return err
		}
		err = root.Remove(dir + "/" + name)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("run %s has no tag %q: %w", id, tag, baseline.ErrNotFound)
		}
		return cmp.Or(err, syncDir(root, dir))
	})
	if err != nil {
		return fmt.Errorf("untag run: %w", err)
	}
	return nil
}

// Remove removes a run with its tags, even a damaged one. The error is ErrNotFound if there
// is no such run.
func (d *Dir) Remove(ctx context.Context, id string) error {
	err := d.changeRun(ctx, id, func(root *os.Root, dir, scratch string) error {
		return cmp.Or(root.Rename(dir, scratch+"/"+id), syncDir(root, runsDir))
	})
	if err != nil {
		return fmt.Errorf("remove run: %w", err)
	}
	return nil
}

// changeRun runs do on the folder of a run.
func (d *Dir) changeRun(ctx context.Context, id string, do func(root *os.Root, dir, scratch string) error) error {
	if err := baseline.CheckID(id); err != nil {
		return err
	}
	dir := runsDir + "/" + id
	root, err := d.root()
	if err == nil {
		defer root.Close()
	}
	if isEmpty(err) || err == nil && !exists(root, dir) {
		return fmt.Errorf("%s: %w", id, baseline.ErrNotFound)
	}
	if err != nil {
		return err
	}
	return d.change(ctx, root, func(scratch string) error {
		if !exists(root, dir) {
			return fmt.Errorf("%s: %w", id, baseline.ErrNotFound)
		}
		return do(root, dir, scratch)
	})
}

// Prune implements Store. It leaves damaged runs.
func (d *Dir) Prune(ctx context.Context, keep int) (baseline.Pruned, error) {
	p, err := d.prune(ctx, keep)
	if err != nil {
		err = fmt.Errorf("prune baseline: %w", err)
	}
	return p, err
}

func (d *Dir) prune(ctx context.Context, keep int) (p baseline.Pruned, err error) {
	if keep < 1 {
		return p, fmt.Errorf("keep %d runs: at least 1 stays", keep)
	}
	root, err := d.root()
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return p, err
	}
	defer root.Close()
	err = d.change(ctx, root, func(scratch string) error {
		runs, problems, err := d.all(ctx, root)
		if err != nil {
			return err
		}
		p.Problems = problems
		var errs []error
		for _, m := range outdated(runs, keep, time.Now()) {
			if err := root.Rename(runsDir+"/"+m.ID, scratch+"/"+m.ID); err != nil {
				errs = append(errs, err) // the folder of somebody else
				continue
			}
			p.Runs = append(p.Runs, m)
		}
		return errors.Join(append(errs, syncDir(root, runsDir))...)
	})
	return p, err
}

// clockError is how far the clocks of two machines may be apart.
const clockError = 24 * time.Hour

// outdated returns the runs that do not stay, the newest first. A run that is newer than
// now was measured by a clock that was ahead: nobody knows how old it is, and it is taken
// for older than the others.
func outdated(runs []baseline.Meta, keep int, now time.Time) (gone []baseline.Meta) {
	known := func(m baseline.Meta) int {
		if m.Time.After(now.Add(clockError)) {
			return 1
		}
		return 0
	}
	type group struct{ branch, testbed string }
	seen := make(map[group]int)
	slices.SortFunc(runs, func(a, b baseline.Meta) int {
		return cmp.Or(known(a)-known(b), baseline.NewestFirst(a, b))
	})
	for _, m := range runs {
		g := group{m.Branch, m.Testbed}
		if seen[g]++; seen[g] > keep && len(m.Tags) == 0 {
			gone = append(gone, m)
		}
	}
	return gone
}
