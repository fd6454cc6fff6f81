package folder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/bench"
)

// List implements Store.
func (d *Dir) List(ctx context.Context, q baseline.Query) ([]baseline.Meta, []baseline.Problem, error) {
	runs, problems, err := d.list(ctx, q)
	if err != nil {
		return nil, nil, fmt.Errorf("list runs: %w", err)
	}
	return runs, problems, nil
}

func (d *Dir) list(ctx context.Context, q baseline.Query) ([]baseline.Meta, []baseline.Problem, error) {
	root, err := d.root()
	if isEmpty(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	all, problems, err := d.all(ctx, root)
	if err != nil {
		return nil, nil, err
	}
	runs, err := q.Apply(all)
	return runs, problems, err
}

// all returns every run, and what is wrong with the others.
func (d *Dir) all(ctx context.Context, root *os.Root) (runs []baseline.Meta, problems []baseline.Problem, err error) {
	ids, err := runIDs(root)
	if err != nil {
		return nil, nil, err
	}
	for _, id := range ids {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		err := d.open(root, id, func(f *runFolder) error {
			m, err := f.meta(id)
			if err != nil {
				return err
			}
			m.Tags = f.tags()
			runs = append(runs, m.Meta)
			return nil
		})
		if p, ok := errors.AsType[baseline.Problem](err); ok {
			problems = append(problems, p)
		} else if err != nil && !errors.Is(err, baseline.ErrNotFound) {
			return nil, nil, err
		}
	}
	return runs, problems, nil
}

// runIDs returns the IDs of the runs, sorted.
func runIDs(root *os.Root) ([]string, error) {
	all, err := names(root, runsDir)
	return slices.DeleteFunc(all, func(name string) bool { return baseline.CheckID(name) != nil }), err
}

// runFolder is the folder of a run.
type runFolder struct {
	reader
	root *os.Root
}

// open runs do on the folder of a run. The error is ErrNotFound if there is no such run,
// or none any more, and a Problem if it is of one of the run's files.
func (d *Dir) open(root *os.Root, id string, do func(*runFolder) error) error {
	if err := baseline.CheckID(id); err != nil {
		return err
	}
	in, err := root.OpenRoot(runsDir + "/" + id)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: %w", id, baseline.ErrNotFound)
	case err != nil:
		return d.damaged(id, err)
	}
	defer in.Close()
	f := &runFolder{root: in}
	f.raw = func(name string, most int64) ([]byte, error) { return readRaw(in, name, most) }
	err = do(f)
	if err != nil && !exists(root, runsDir+"/"+id) {
		return fmt.Errorf("%s: %w", id, baseline.ErrNotFound)
	}
	if e, ok := errors.AsType[fileError](err); ok {
		return d.damaged(id+"/"+e.name, e.error)
	}
	return err
}

// damaged returns a Problem with a file of a run.
func (d *Dir) damaged(file string, err error) baseline.Problem {
	return d.problem(file, bench.WithHint(err, cmp.Or(bench.Hint(err), "remove the run; ebpf-bench baseline verify finds others that are damaged, such as by the same object")))
}

// tags returns the tags of the run, sorted.
func (f *runFolder) tags() (tags []string) {
	all, _ := names(f.root, ".") // where this fails, reading a file fails too
	for _, name := range all {
		if tag, ok := tagOf(name); ok {
			tags = append(tags, tag)
		}
	}
	slices.Sort(tags)
	return tags
}

// Load implements Store.
func (d *Dir) Load(ctx context.Context, id string) (*baseline.Entry, error) {
	root, err := d.root()
	if isEmpty(err) {
		err = fmt.Errorf("%s: %w", id, baseline.ErrNotFound)
	}
	var e *baseline.Entry
	if err == nil {
		defer root.Close()
		e, err = d.load(ctx, root, id)
	}
	if err != nil {
		return nil, fmt.Errorf("load run: %w", err)
	}
	return e, nil
}

func (d *Dir) load(ctx context.Context, root *os.Root, id string) (e *baseline.Entry, err error) {
	err = d.open(root, id, func(f *runFolder) error {
		if e, err = f.entry(ctx, id); err != nil {
			return err
		}
		e.Tags = f.tags()
		return nil
	})
	return e, err
}

// History implements Store. It reads the points of the runs, not the runs.
func (d *Dir) History(ctx context.Context, q baseline.Query, wanted ...baseline.Series) (*baseline.History, error) {
	h, err := d.history(ctx, q, wanted)
	if err != nil {
		return nil, fmt.Errorf("read history: %w", err)
	}
	return h, nil
}

func (d *Dir) history(ctx context.Context, q baseline.Query, wanted []baseline.Series) (*baseline.History, error) {
	runs, problems, err := d.list(ctx, q)
	h := &baseline.History{Runs: runs, Problems: problems, ByName: make(map[baseline.Series][]float64)}
	if err != nil || len(runs) == 0 {
		return h, err
	}
	root, err := d.root()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	asked := make(map[baseline.Series]bool)
	measures := []string{}
	for _, w := range wanted {
		asked[w] = true
		measures = append(measures, w.Measure)
	}
	slices.Sort(measures)
	measures = slices.Compact(measures)
	for i, run := range runs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		err := d.open(root, run.ID, func(f *runFolder) error {
			m, err := f.meta(run.ID)
			if err != nil {
				return err
			}
			lines, err := f.lines(m, measures...)
			if err != nil {
				return err
			}
			return remember(h, i, lines, asked)
		})
		if p, ok := errors.AsType[baseline.Problem](err); ok {
			h.Problems = append(h.Problems, p)
		} else if err != nil && !errors.Is(err, baseline.ErrNotFound) {
			return nil, err
		}
	}
	return h, nil
}

// maxHistory is the most values that a history may have: no honest one comes near it, and
// no hostile one fills the memory.
const maxHistory = 32 << 20

var errHistory = bench.WithHint(fmt.Errorf("it has more than %d values", maxHistory), "prune the baseline, or judge fewer measures by their history")

// remember adds the points of run i that are asked for to a history.
func remember(h *baseline.History, i int, lines []line, asked map[baseline.Series]bool) error {
	for _, l := range lines {
		all := asked[baseline.Series{Measure: l.Measure}]
		for n, benchmark := range l.Benchmarks {
			key := baseline.Series{Benchmark: benchmark, Measure: l.Measure}
			if !all && !asked[key] {
				continue
			}
			row := h.ByName[key]
			if row == nil {
				if (len(h.ByName)+1)*len(h.Runs) > maxHistory {
					return errHistory
				}
				row = slices.Repeat([]float64{math.NaN()}, len(h.Runs))
				h.ByName[key] = row
			}
			row[i] = l.Values[n]
		}
	}
	return nil
}
