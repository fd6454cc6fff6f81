package folder

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/bench"
)

// Verify implements Store. It changes nothing.
func (d *Dir) Verify(ctx context.Context) ([]baseline.Problem, error) {
	problems, err := d.verify(ctx)
	if err != nil {
		return nil, fmt.Errorf("verify baseline: %w", err)
	}
	return problems, nil
}

func (d *Dir) verify(ctx context.Context) (problems []baseline.Problem, err error) {
	root, err := d.root()
	if isEmpty(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	// What is beside the runs may be anything: other baselines on the same branch, or a file
	// that describes them.
	strays := func(in *os.Root, dir, path string, known func(name string) bool) error {
		all, err := names(in, dir)
		for _, name := range all {
			if !known(name) {
				problems = append(problems, d.problem(path+name, errStray))
			}
		}
		return err
	}
	isRun := func(name string) bool { return baseline.CheckID(name) == nil }
	if err := strays(root, runsDir, "", isRun); err != nil {
		return nil, err
	}
	all, err := runIDs(root)
	if err != nil {
		return nil, err
	}
	for _, id := range all {
		err := d.open(root, id, func(f *runFolder) error {
			m, err := f.meta(id)
			if err != nil {
				return err
			}
			files := m.files()
			err = strays(f.root, ".", id+"/", func(name string) bool {
				_, isTag := tagOf(name)
				_, isFile := files[name]
				return isTag || isFile || name == metaFile
			})
			if err != nil {
				return err
			}
			found := len(problems)
			for name, sum := range files {
				if err := ctx.Err(); err != nil {
					return err
				}
				if _, err := f.content(name, sum, maxRun); err != nil && exists(root, runsDir+"/"+id) {
					e, _ := errors.AsType[fileError](err)
					problems = append(problems, d.damaged(id+"/"+name, e.error))
				}
			}
			if len(problems) > found {
				return nil
			}
			f.size = 0
			_, err = f.entry(ctx, id)
			return err
		})
		if p, ok := errors.AsType[baseline.Problem](err); ok {
			problems = append(problems, p)
		} else if err != nil && !errors.Is(err, baseline.ErrNotFound) {
			return nil, err
		}
	}
	return problems, nil
}

var errStray = bench.WithHint(errors.New("no file of a baseline"), "remove it: nothing refers to it")
