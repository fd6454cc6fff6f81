package folder

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/internal/baseline"

	"github.com/org/ebpf-bench-action/internal/testenv"
)

func TestABombIsRefusedAtOnce(t *testing.T) {
	testenv.Plain(t)
	zeros := compress(make([]byte, 60<<20))
	bomb := make([]byte, 60<<20)
	e := testEntry(1)
	for i := range 20 {
		bomb[0] = byte(i)
		e.Objects[sumOf(bomb)] = nil
	}
	m := must(encode(testEntry(1))).meta
	m.ID, m.Digests = "", slices.Sorted(maps.Keys(e.Objects))
	huge := must(encode(testEntry(1)))
	for name, c := range map[string]struct {
		spoil func(map[string][]byte)
		want  string
	}{
		"zeros": {func(f map[string][]byte) { f[pointsFile] = zeros }, "more than the 32 MiB"},
		"more zeros": {func(f map[string][]byte) {
			for _, sum := range m.Digests {
				f[objectFile(sum)] = zeros
			}
			f[metaFile] = must(json.Marshal(m))
		}, "its SHA-256 is another"},
		"a size that is not true": {func(f map[string][]byte) {
			f[runFile] = append([]byte("\x28\xb5\x2f\xfd\xe4\x00"), "\xff\xff\xff\xff\xff\xff\xff\x7f"...)
		}, "that are plausible"},
	} {
		files := maps.Clone(huge.files)
		c.spoil(files)
		id := huge.ID
		if name == "more zeros" {
			id = idOf(&m, files[metaFile])
		}
		var all []member
		for name, data := range files {
			all = append(all, member{name: id + "/" + name, data: data, kind: '0'})
		}
		export := pack(append(all, member{name: lastMember, kind: '0'}))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := newDir(t).Import(t.Context(), bytes.NewReader(export))
		runtime.ReadMemStats(&after)
		wantError(t, err, c.want)
		if took := after.TotalAlloc - before.TotalAlloc; took > 128<<20 {
			t.Errorf("%s: %d bytes of export took %d MiB", name, len(export), took>>20)
		}
	}
}

func TestAClockThatIsAheadRemovesNothingNewer(t *testing.T) {
	d := newDir(t)
	save := func(n int, at time.Time) string {
		e := testEntry(n)
		e.Time = at
		return must(d.Save(t.Context(), e)).ID
	}
	now := time.Now()
	save(0, now.AddDate(70, 0, 0))
	save(1, now.Add(-2*time.Minute))
	before := save(2, now.Add(-time.Minute))
	another := save(3, now.Add(time.Minute)) // by the clock of another machine
	p := must(d.Prune(t.Context(), 2))
	if got := ids(listed(t, d, baseline.Query{})); len(p.Runs) != 2 || !slices.Equal(got, []string{another, before}) {
		t.Errorf("pruned %v, left %v", ids(p.Runs), got)
	}
}

func TestAStoreHasNoLinks(t *testing.T) {
	d, _ := saved(t, 2)
	ok(os.Remove(filepath.Join(d.path, tmpDir)))
	ok(os.Symlink(runsDir, filepath.Join(d.path, tmpDir)))
	_, err := d.Save(t.Context(), testEntry(2))
	wantError(t, err, "tmp is no folder")
	_, err = d.Verify(t.Context())
	wantError(t, err, "tmp is no folder")
	ok(os.Remove(filepath.Join(d.path, tmpDir)))
	if left := listed(t, d, baseline.Query{}); len(left) != 2 {
		t.Errorf("left %v", ids(left))
	}
	wantWhole(t, d)
}

func TestRemove(t *testing.T) {
	d, runs := saved(t, 3)
	ok(d.Tag(t.Context(), runs[0].ID, "v1"))
	ok(d.Remove(t.Context(), runs[0].ID))
	wantError(t, d.Remove(t.Context(), runs[0].ID), "not in the baseline")
	wantWhole(t, d)
	if left := listed(t, d, baseline.Query{}); len(left) != 2 {
		t.Errorf("left %v", ids(left))
	}
	// Also a run whose files are damaged or missing.
	ok(os.Truncate(d.file(runs[1], runFile), 9))
	ok(os.Remove(d.file(runs[1], metaFile)))
	ok(d.Remove(t.Context(), runs[1].ID))
	wantWhole(t, d)
	wantError(t, Open(filepath.Join(t.TempDir(), "none")).Remove(t.Context(), runs[1].ID), "not in the baseline")
}

func TestASaveThatFailsLeavesNothing(t *testing.T) {
	d, runs := saved(t, 1)
	e := testEntry(1)
	// A folder takes the place of the run's, and cannot be removed.
	ok(os.WriteFile(filepath.Join(d.path, "runs", must(encode(e)).ID), nil, 0o644))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.Save(ctx, testEntry(2)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if left := must(os.ReadDir(filepath.Join(d.path, tmpDir))); len(left) != 0 {
		t.Errorf("left %v", left)
	}
	// What is no run is replaced.
	must(d.Save(t.Context(), e))
	if got := listed(t, d, baseline.Query{}); len(got) != 2 || got[1].ID != runs[0].ID {
		t.Errorf("listed %v", ids(got))
	}
	wantWhole(t, d)
}

func TestNothingIsMadeWhereThereIsNoStore(t *testing.T) {
	other := t.TempDir()
	ok(os.WriteFile(filepath.Join(other, "main.c"), nil, 0o644))
	d := Open(other)
	ctx := t.Context()
	_, verifyErr := d.Verify(ctx)
	_, listProblems, listErr := d.List(ctx, baseline.Query{})
	if verifyErr != nil || listErr != nil || len(listProblems) > 0 {
		t.Errorf("errors %v, %v, problems %v", verifyErr, listErr, listProblems)
	}
	_, pruneErr := d.Prune(ctx, 1)
	for _, err := range []error{pruneErr, d.Exists()} {
		wantError(t, err, other, "is not a baseline")
	}
	id := "20261121T114900Z-5f0c2a91"
	wantError(t, d.Tag(ctx, id, "x"), id)
	wantError(t, d.Remove(ctx, id), id)
	wantError(t, Open(filepath.Join(other, "none")).Exists(), "none")
	empty := t.TempDir()
	must(Open(empty).Prune(ctx, 1))
	for dir, n := range map[string]int{other: 1, empty: 0} {
		if files := must(os.ReadDir(dir)); len(files) != n {
			t.Errorf("%v were made", files)
		}
	}
}

func TestWhatRootCreatesBelongsToTheCaller(t *testing.T) {
	testenv.Root(t)
	const uid, gid = 65534, 65533
	t.Setenv("SUDO_UID", fmt.Sprint(uid))
	t.Setenv("SUDO_GID", fmt.Sprint(gid))
	for _, theirs := range []bool{true, false} {
		home := t.TempDir()
		if theirs {
			ok(os.Chown(home, uid, gid))
		}
		d := Open(filepath.Join(home, "a", DefaultDir))
		m := must(d.Save(t.Context(), testEntry(0)))
		ok(d.Tag(t.Context(), m.ID, "v1"))
		must(d.Prune(t.Context(), 1))
		n := 0
		ok(filepath.Walk(filepath.Join(home, "a"), func(path string, info os.FileInfo, err error) error {
			ok(err)
			st := info.Sys().(*syscall.Stat_t)
			if got := st.Uid == uid && st.Gid == gid; got != theirs {
				t.Errorf("%s is of %d:%d", path, st.Uid, st.Gid)
			}
			n++
			return nil
		}))
		if n < 12 {
			t.Errorf("%d files", n)
		}
	}
}
