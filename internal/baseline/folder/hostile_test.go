package folder

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/baseline/format"
	"github.com/org/ebpf-bench-action/internal/bench"

	"github.com/org/ebpf-bench-action/internal/testenv"
)

// manyResults returns a run with n empty results.
func manyResults(n int) string {
	return `{"version":2,"runs":[{"results":[` + strings.Repeat("{},", n-1) + "{}]}]}"
}

// contentOf returns the content of a run file with another run in it.
func contentOf(run string) []byte {
	e := testEntry(0)
	var text bytes.Buffer
	check(bench.EncodeRuns(&text, e.Run))
	return bytes.Replace(must(format.EncodeRun(e)).Content, text.Bytes(), []byte(run), 1)
}

func TestABombIsRefusedAtOnce(t *testing.T) {
	testenv.Plain(t)
	const id = "20261121T114900Z-5f0c2a91"
	huge := []member{{"runs/" + id, format.Seal(format.RunKind, contentOf(manyResults(10_000_000))), '0'}}
	var zeros []member
	for i := range 8 {
		object := append(make([]byte, 30<<20), byte(i))
		// The export compresses what is not compressed within.
		packed := bytes.NewBuffer([]byte("\x28\xb5\x2f\xfd"))
		packed.Write(object)
		zeros = append(zeros, member{"objects/" + sumOf(object), append(format.FrameLine("object", packed.Bytes()), packed.Bytes()...), '0'})
	}
	for name, c := range map[string]struct {
		members []member
		want    string
	}{
		"a bomb":     {huge, "implausibly"},
		"zeros":      {zeros[:1], "implausibly"},
		"more zeros": {zeros, "implausibly"},
	} {
		export := pack(c.members)
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
	ahead := testEntry(0)
	ahead.Time = time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC)
	wrong := must(d.Save(t.Context(), ahead))
	age(d.file(format.RunKind, wrong.ID))
	e := testEntry(1)
	e.Time = time.Now().Add(-time.Minute)
	right := must(d.Save(t.Context(), e))
	p := must(d.Prune(t.Context(), 1))
	if got := ids(listed(t, d, baseline.Query{})); len(p.Runs) != 1 || p.Runs[0].ID != wrong.ID || got[0] != right.ID {
		t.Errorf("pruned %v, left %v", ids(p.Runs), got)
	}
}

func TestRemove(t *testing.T) {
	d, runs := saved(t, 3)
	check(d.Tag(t.Context(), runs[0].ID, "v1"))
	check(d.Remove(t.Context(), runs[0].ID))
	wantError(t, d.Remove(t.Context(), runs[0].ID), "not in the baseline")
	wantWhole(t, d)
	if left := listed(t, d, baseline.Query{}); len(left) != 2 {
		t.Errorf("left %v", ids(left))
	}
	if objects := must(os.ReadDir(filepath.Join(d.path, "objects"))); len(objects) != 3 {
		t.Errorf("objects %v", objects)
	}
	// Also a run whose files are damaged or missing.
	check(os.Truncate(d.file(format.RunKind, runs[1].ID), 9))
	check(os.Remove(d.file(format.IndexKind, runs[1].ID)))
	check(d.Remove(t.Context(), runs[1].ID))
	wantWhole(t, d)
	wantError(t, Open(filepath.Join(t.TempDir(), "none")).Remove(t.Context(), runs[1].ID), "not in the baseline")
}

func TestARunThatTheIndexLacksIsFound(t *testing.T) {
	d, runs := saved(t, 3)
	check(os.Remove(d.file(format.IndexKind, runs[1].ID)))
	all, problems, err := d.List(t.Context(), baseline.Query{})
	if err != nil || len(all) != 2 || len(problems) != 1 || problems[0].File != d.file(format.RunKind, runs[1].ID) || problems[0].Leftover {
		t.Errorf("listed %v, problems %v, error %v", ids(all), problems, err)
	}
	if problems := must(d.Verify(t.Context())); len(problems) != 1 || problems[0].Leftover || bench.Hint(problems[0]) == "" {
		t.Errorf("problems %v", problems)
	}
	must(d.Rebuild(t.Context()))
	wantWhole(t, d)
}

// full makes it impossible to write a file, even for root: a folder takes its place.
func full(t *testing.T, d *Dir, k format.Kind, name string) {
	t.Helper()
	check(os.RemoveAll(d.file(k, name)))
	check(os.MkdirAll(filepath.Join(d.file(k, name), "x"), 0o755))
}

func TestARunWhoseSaveFailedIsNotRevived(t *testing.T) {
	d, _ := saved(t, 1)
	e := testEntry(1)
	id := must(format.EncodeRun(e)).ID
	full(t, d, format.PointsKind, id)
	if _, err := d.Save(t.Context(), e); err == nil {
		t.Fatal("saved")
	}
	if _, err := os.Lstat(d.file(format.RunKind, id)); err == nil {
		t.Error("the run is there")
	}
	check(os.RemoveAll(d.file(format.PointsKind, id)))
	must(d.Prune(t.Context(), 5))
	if got := listed(t, d, baseline.Query{}); len(got) != 1 {
		t.Errorf("listed %v", ids(got))
	}
	wantWhole(t, d)
	// A run that was saved before stays, whatever happens to its next save.
	e = testEntry(0)
	e.Tags = []string{"v1"}
	full(t, d, format.TagKind, format.TagFile{ID: must(format.EncodeRun(e)).ID, Tag: "v1"}.Name())
	if _, err := d.Save(t.Context(), e); err == nil {
		t.Fatal("saved")
	}
	must(d.Load(t.Context(), must(format.EncodeRun(e)).ID))
}

func TestPruneRemovesBeforeItWrites(t *testing.T) {
	d, runs := saved(t, 3)
	full(t, d, format.IndexKind, runs[2].ID)
	p, err := d.Prune(t.Context(), 1)
	if err == nil || len(p.Runs) != 2 {
		t.Errorf("pruned %+v, error %v", p, err)
	}
	for _, m := range runs[:2] {
		if _, err := os.Lstat(d.file(format.RunKind, m.ID)); err == nil {
			t.Errorf("run %s is there", m.ID)
		}
	}
}

func TestNothingIsMadeWhereThereIsNoStore(t *testing.T) {
	other := t.TempDir()
	check(os.WriteFile(filepath.Join(other, "main.c"), nil, 0o644))
	d := Open(other)
	ctx := t.Context()
	_, verifyErr := d.Verify(ctx)
	_, listProblems, listErr := d.List(ctx, baseline.Query{})
	if verifyErr != nil || listErr != nil || len(listProblems) > 0 {
		t.Errorf("errors %v, %v, problems %v", verifyErr, listErr, listProblems)
	}
	_, pruneErr := d.Prune(ctx, 1)
	_, rebuildErr := d.Rebuild(ctx)
	for _, err := range []error{pruneErr, rebuildErr, d.Exists()} {
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
			check(os.Chown(home, uid, gid))
		}
		d := Open(filepath.Join(home, "a", DefaultDir))
		m := must(d.Save(t.Context(), testEntry(0)))
		check(d.Tag(t.Context(), m.ID, "v1"))
		must(d.Prune(t.Context(), 1))
		n := 0
		check(filepath.Walk(filepath.Join(home, "a"), func(path string, info os.FileInfo, err error) error {
			check(err)
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
