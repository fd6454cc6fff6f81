package folder

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/testenv"
)

func TestManyWritersLoseNothing(t *testing.T) {
	d := newDir(t)
	const goroutines, processes, each = 16, 3, 4
	var (
		all sync.WaitGroup
		mu  sync.Mutex
		ids []string
	)
	done := func(more ...string) {
		mu.Lock()
		defer mu.Unlock()
		ids = append(ids, more...)
	}
	for g := range goroutines {
		all.Go(func() {
			for i := range each {
				m, err := d.Save(t.Context(), testEntry(each*g+i))
				if err != nil {
					t.Error(err)
				}
				done(m.ID)
			}
		})
	}
	for p := range processes {
		all.Go(func() {
			out, err := writer(t.Context(), d, 1000*(p+1), each).Output()
			if err != nil {
				t.Error(err)
			}
			done(strings.Fields(string(out))...)
		})
	}
	// Pruning in parallel removes nothing that they are about to refer to.
	all.Go(func() {
		for range 5 {
			if _, err := d.Prune(t.Context(), 10_000); err != nil {
				t.Error(err)
			}
			time.Sleep(10 * time.Millisecond)
		}
	})
	all.Wait()
	if len(ids) != (goroutines+processes)*each {
		t.Errorf("%d runs were saved", len(ids))
	}
	wantAll(t, d, ids)
}

// wantAll checks that all these runs are listed and whole.
func wantAll(t *testing.T, d *Dir, want []string) {
	t.Helper()
	got := ids(listed(t, d, baseline.Query{}))
	for _, id := range want {
		if !slices.Contains(got, id) {
			t.Errorf("run %s is lost", id)
		} else if _, err := d.Load(t.Context(), id); err != nil {
			t.Error(err)
		}
	}
	wantWhole(t, d)
}

func TestKilledWritersLoseAndDamageNothing(t *testing.T) {
	testenv.Long(t, "kills 100 writers")
	d := newDir(t)
	const writers, kills = 4, 100
	random := rand.New(rand.NewPCG(1, 2))
	var saved []string
	for n := 0; n < kills; n += writers {
		var all sync.WaitGroup
		var mu sync.Mutex
		for w := range writers {
			// Half of them save runs that another one saves too.
			from := 1000 * (n + w/2*2)
			after := time.Duration(random.Int64N(int64(40 * time.Millisecond)))
			all.Go(func() {
				ids, err := killed(t, d, from, after)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				saved = append(saved, ids...)
			})
		}
		all.Wait()
	}
	slices.Sort(saved)
	saved = slices.Compact(saved)
	t.Logf("%d runs were saved by the processes that were killed", len(saved))
	wantAll(t, d, saved)
	root := must(d.root())
	defer root.Close()
	t.Logf("they left %d folders behind", len(must(names(root, tmpDir))))
	if p := must(d.Prune(t.Context(), 100_000)); len(p.Runs) != 0 || len(p.Problems) != 0 {
		t.Errorf("pruned %+v", p)
	}
	wantAll(t, d, saved)
	if left := must(names(root, tmpDir)); len(left) != 0 {
		t.Errorf("left %v", left)
	}
}

// killed starts a writer, kills it a while after its first run, and returns the IDs of the
// runs whose Save had returned.
func killed(t *testing.T, d *Dir, from int, after time.Duration) ([]string, error) {
	cmd := writer(t.Context(), d, from, 1000)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	var ids []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if len(ids) == 0 {
			time.AfterFunc(after, func() { cmd.Process.Kill() })
		}
		// The last line may be cut off.
		if baseline.IDForm.MatchString(lines.Text()) {
			ids = append(ids, lines.Text())
		}
	}
	if err := cmd.Wait(); err == nil || stderr.Len() > 0 {
		return nil, fmt.Errorf("not killed: %w, %s", err, &stderr)
	}
	return ids, nil
}
