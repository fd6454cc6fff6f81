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
	if got := ids(p.Runs); !slices.Equal(got, ids([]baseline.Meta{all[5], all[4], all[3]})) || len(p.Problems) != 0 {
		t.Errorf("pruned %+v", p)
	}
	if got := ids(listed(t, d, baseline.Query{})); !slices.Equal(got, ids([]baseline.Meta{all[7], all[6], all[2], all[1], all[0]})) {
		t.Errorf("left %v", got)
	}
	for _, m := range listed(t, d, baseline.Query{}) {
		must(d.Load(t.Context(), m.ID))
	}
	wantWhole(t, d)
	if p := must(d.Prune(t.Context(), 2)); len(p.Runs) != 0 {
		t.Errorf("pruned once more %+v", p)
	}
	_, err := d.Prune(t.Context(), 0)
	wantError(t, err, "at least 1 stays")
}

func TestPruneWaitsForASave(t *testing.T) {
	d, _ := saved(t, 1)
	root := must(d.root())
	defer root.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	ok(d.change(t.Context(), root, func(string) error {
		if _, err := d.Prune(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		// Who reads need not wait.
		wantWhole(t, d)
		return nil
	}))
	must(d.Prune(t.Context(), 1))
}

func TestPruneRemovesWhatKilledProcessesLeft(t *testing.T) {
	d, runs := saved(t, 2)
	left := filepath.Join(d.path, tmpDir, "half")
	ok(os.Rename(d.file(runs[0], ""), left))
	wantWhole(t, d)
	if p := must(d.Prune(t.Context(), 1)); len(p.Runs) != 0 {
		t.Errorf("pruned %+v", p)
	}
	if _, err := os.Stat(left); err == nil {
		t.Error("it is still there")
	}
}

func TestADamagedRunIsNotPruned(t *testing.T) {
	d, runs := saved(t, 3)
	ok(os.Truncate(d.file(runs[0], metaFile), 100))
	if p := must(d.Prune(t.Context(), 1)); len(p.Runs) != 1 || len(p.Problems) != 1 {
		t.Errorf("pruned %+v", p)
	}
	must(os.Stat(d.file(runs[0], metaFile)))
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
