package folder

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/baseline/format"
)

func TestPruneKeepsTheNewestAndTheTagged(t *testing.T) {
	d := newDir(t)
	var all []baseline.Meta
	for i := range 8 {
		e := testEntry(i)
		switch i {
		case 0:
			e.Tags = []string{"v1"}
		case 1:
			e.Branch = "feature"
		case 2:
			e.Run.Testbed.Cores = 64
		}
		all = append(all, must(d.Save(t.Context(), e)))
	}
	p := must(d.Prune(t.Context(), 2))
	if got := ids(p.Runs); !slices.Equal(got, ids([]baseline.Meta{all[5], all[4], all[3]})) || p.Objects != 3 || p.Leftovers != 0 || len(p.Problems) != 0 {
		t.Errorf("pruned %+v", p)
	}
	if got := ids(listed(t, d, baseline.Query{})); !slices.Equal(got, ids([]baseline.Meta{all[7], all[6], all[2], all[1], all[0]})) {
		t.Errorf("left %v", got)
	}
	for _, m := range listed(t, d, baseline.Query{}) {
		must(d.Load(t.Context(), m.ID))
	}
	wantWhole(t, d)
	if p := must(d.Prune(t.Context(), 2)); len(p.Runs) != 0 || p.Objects != 0 {
		t.Errorf("pruned once more %+v", p)
	}
	_, err := d.Prune(t.Context(), 0)
	wantError(t, err, "at least 1 stays")
}

func TestPruneFinishesWhatKilledProcessesLeft(t *testing.T) {
	d, runs := saved(t, 3)
	left := filepath.Join(d.path, tmpDir, "run-ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	check(os.WriteFile(left, []byte("half"), 0o644))
	lone := d.file(format.ObjectKind, sumOf([]byte("lone")))
	check(os.WriteFile(lone, format.Seal(format.ObjectKind, []byte("lone")), 0o644))
	check(os.Remove(d.file(format.IndexKind, runs[0].ID))) // saved except for the index
	check(os.Remove(d.file(format.RunKind, runs[1].ID)))   // pruned except for the rest

	var leftovers []string
	for _, file := range []string{left, lone, d.file(format.PointsKind, runs[1].ID)} {
		age(file)
		leftovers = append(leftovers, file)
	}
	for _, p := range must(d.Verify(t.Context())) {
		i := slices.Index(leftovers, p.File)
		if i < 0 != (p.File == d.file(format.RunKind, runs[0].ID) || p.File == d.file(format.RunKind, runs[1].ID)) || p.Leftover != (i >= 0) {
			t.Errorf("problem %v, leftover %v", p, p.Leftover)
		}
		if i >= 0 {
			leftovers = slices.Delete(leftovers, i, i+1)
		}
	}
	// The missing run has an index, so its own object is in use.
	if len(leftovers) > 0 {
		t.Errorf("not reported: %v", leftovers)
	}

	p := must(d.Prune(t.Context(), 10))
	if p.Leftovers != 3 || p.Objects != 2 || len(p.Runs) != 0 {
		t.Errorf("pruned %+v", p)
	}
	if got := ids(listed(t, d, baseline.Query{})); !slices.Equal(got, []string{runs[2].ID, runs[0].ID}) {
		t.Errorf("left %v", got)
	}
	wantWhole(t, d)
}

func TestYoungLeftoversAreTakenForASaveUnderWay(t *testing.T) {
	d, runs := saved(t, 1)
	check(os.WriteFile(filepath.Join(d.path, tmpDir, "run-ABCDEFGHIJKLMNOPQRSTUVWXYZ"), nil, 0o644))
	check(os.Remove(d.file(format.IndexKind, runs[0].ID)))
	root := must(d.root())
	defer root.Close()
	unlock := must(share(t.Context(), root)) // as the save does
	wantWhole(t, d)
	listed(t, d, baseline.Query{})
	unlock()
	if _, problems, err := d.List(t.Context(), baseline.Query{}); len(problems) != 1 || err != nil {
		t.Errorf("problems %v, error %v", problems, err)
	}
}

func TestObjectsStayWhileARunCannotBeRead(t *testing.T) {
	d, runs := saved(t, 3)
	for _, k := range []format.Kind{format.RunKind, format.IndexKind} {
		check(os.Truncate(d.file(k, runs[0].ID), 100))
	}
	p := must(d.Prune(t.Context(), 1))
	if len(p.Runs) != 1 || p.Objects != 0 || len(p.Problems) != 2 {
		t.Errorf("pruned %+v", p)
	}
	for _, k := range []format.Kind{format.RunKind, format.IndexKind} {
		check(os.Remove(d.file(k, runs[0].ID)))
	}
	if p := must(d.Prune(t.Context(), 1)); p.Objects != 2 {
		t.Errorf("pruned %+v", p)
	}
	wantWhole(t, d)
}

func TestPruneWaitsForASave(t *testing.T) {
	d, _ := saved(t, 1)
	root := must(d.root())
	defer root.Close()
	unlock := must(share(t.Context(), root))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := d.Prune(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	unlock()
	must(d.Prune(t.Context(), 1))
}

func TestRebuildNeedsTheRunsAlone(t *testing.T) {
	d, _ := saved(t, 3)
	before := listed(t, d, baseline.Query{})
	for _, k := range []format.Kind{format.IndexKind, format.PointsKind} {
		check(os.RemoveAll(filepath.Join(d.path, k.Dir)))
	}
	check(os.RemoveAll(filepath.Join(d.path, tmpDir)))
	if problems := must(d.Rebuild(t.Context())); problems != nil {
		t.Errorf("problems %v", problems)
	}
	if after := listed(t, d, baseline.Query{}); !slices.Equal(ids(after), ids(before)) {
		t.Errorf("list is %v, was %v", after, before)
	}
	wantWhole(t, d)
}

func TestPruneBesideTheFirstSave(t *testing.T) {
	for range 50 {
		d := newDir(t)
		var save sync.WaitGroup
		save.Go(func() {
			if _, err := d.Save(t.Context(), testEntry(0)); err != nil {
				t.Error(err)
			}
		})
		for range 20 {
			if _, err := d.Prune(t.Context(), 1); err != nil {
				t.Error(err)
			}
		}
		save.Wait()
	}
}
