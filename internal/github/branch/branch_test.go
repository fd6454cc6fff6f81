package branch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/baseline/folder"
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/github"
	"github.com/org/ebpf-bench-action/internal/github/githubtest"
)

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

const sharedObject = "an object that every run has"

func commitOf(i int) string { return githubtest.SHA("commit", fmt.Sprint(i)) }

// testEntry returns the run of minute i, with an object of its own and a shared one.
func testEntry(i int) *baseline.Entry {
	own := fmt.Appendf(nil, "object of run %d", i)
	return &baseline.Entry{
		Meta: baseline.Meta{Branch: "main", Commit: commitOf(i)},
		Run: &bench.Run{
			Tool:    "v1.0.0",
			Testbed: bench.Testbed{Mode: bench.ModeHost, Kernel: "6.18.5", Arch: "x86_64", CPU: "Some CPU", Cores: 2, JIT: "on"},
			Started: time.Date(2026, 11, 21, 11, 49, 0, 0, time.UTC).Add(time.Duration(i) * time.Minute),
			Results: []bench.Result{{
				Benchmark: "xdp", Object: "xdp.o", ObjectSHA256: sumOf(own),
				Samples: []bench.Sample{{Measure: bench.Latency, Values: []float64{float64(i)}}},
			}},
		},
		Objects: map[string][]byte{sumOf(own): own, sumOf([]byte(sharedObject)): []byte(sharedObject)},
		Files:   map[string][]byte{"ebpf-bench.yml": []byte("suite")},
		Points:  baseline.Points{"latency": {"xdp": float64(i)}},
	}
}

// fake is a GitHub with a repository o/r.
type fake struct {
	*githubtest.Fake
	t testing.TB
}

func newFake(t testing.TB) *fake {
	f := &fake{githubtest.New(), t}
	t.Cleanup(f.Close)
	return f
}

func (f *fake) api() *github.API {
	f.t.Helper()
	a, err := github.NewAPI(&github.Context{Owner: "o", Repo: "r", APIURL: f.URL}, githubtest.Token)
	if err != nil {
		f.t.Fatal(err)
	}
	a.Pause = time.Millisecond
	return a
}

func (f *fake) branch(folder string) *Store {
	f.t.Helper()
	b, err := Open(f.api(), "ebpf-bench/baseline", folder, f.t.TempDir())
	if err != nil {
		f.t.Fatal(err)
	}
	return b
}

func list(t *testing.T, s baseline.Store) []baseline.Meta {
	t.Helper()
	runs, problems, err := s.List(t.Context(), baseline.Query{})
	if err != nil || len(problems) > 0 {
		t.Fatalf("problems %v, error %v", problems, err)
	}
	return runs
}

// checkout makes a folder of the branch, as git does.
func (f *fake) checkout(branch, below string) *folder.Dir {
	dir := f.t.TempDir()
	for path, data := range f.Files(branch) {
		name := filepath.Join(dir, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, data, 0o644)); err != nil {
			f.t.Fatal(err)
		}
	}
	return folder.Open(filepath.Join(dir, below))
}

func TestSixteenWritersLoseNothing(t *testing.T) {
	f := newFake(t)
	const writers = 16
	var all sync.WaitGroup
	for i := range writers {
		// Each stands for a process of its own.
		b := f.branch("")
		all.Go(func() {
			if _, err := b.Save(context.Background(), testEntry(i)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	t.Logf("%d conflicts, %d requests", f.Conflicts, len(f.Requests))
	if f.Conflicts == 0 {
		t.Error("no two writers met")
	}
	for what, s := range map[string]baseline.Store{"branch": f.branch(""), "checkout": f.checkout("ebpf-bench/baseline", "")} {
		if runs := list(t, s); len(runs) != writers {
			t.Errorf("%s: %d runs", what, len(runs))
		}
		if problems, err := s.Verify(t.Context()); err != nil || len(problems) > 0 {
			t.Errorf("%s: problems %v, error %v", what, problems, err)
		}
	}
	// There is one commit per run, one after the other, and no others.
	n := 0
	for at := f.Refs["refs/heads/ebpf-bench/baseline"]; at != ""; n++ {
		parents := f.Commits[at].Parents
		if at = ""; len(parents) > 0 {
			at = parents[0]
		}
	}
	if n != writers {
		t.Errorf("%d commits", n)
	}
}

func TestARunComesBackWhole(t *testing.T) {
	for _, folder := range []string{"", "suites/net"} {
		f := newFake(t)
		want, err := f.branch(folder).Save(t.Context(), testEntry(1))
		if err != nil {
			t.Fatal(err)
		}
		for what, s := range map[string]baseline.Store{"branch": f.branch(folder), "checkout": f.checkout("ebpf-bench/baseline", folder)} {
			e, err := s.Load(t.Context(), want.ID)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if e.ID != want.ID || len(e.Objects) != 2 || string(e.Files["ebpf-bench.yml"]) != "suite" || e.Run.Results[0].Benchmark != "xdp" {
				t.Errorf("%s: %+v", what, e)
			}
		}
	}
}

func TestSavingAgainCommitsNothing(t *testing.T) {
	f := newFake(t)
	b := f.branch("")
	for range 3 {
		if _, err := b.Save(t.Context(), testEntry(1)); err != nil {
			t.Fatal(err)
		}
	}
	if len(f.Commits) != 1 {
		t.Errorf("%d commits", len(f.Commits))
	}
}

func TestListingTakesAFewRequests(t *testing.T) {
	f := newFake(t)
	b := f.branch("")
	const runs = 8
	for i := range runs {
		if _, err := b.Save(t.Context(), testEntry(i)); err != nil {
			t.Fatal(err)
		}
	}
	before := len(f.Requests)
	if n := len(list(t, f.branch(""))); n != runs {
		t.Errorf("%d runs", n)
	}
	if n := len(f.Requests) - before; n != 4 {
		t.Errorf("%d requests for %d runs", n, runs)
	}
	// Files that the shortcut lacks or has wrong are requested.
	f.Blobs[githubtest.SHA("blob", "nonsense\n!")] = []byte("nonsense\n!")
	f.Trees[f.Commits[f.Refs["refs/heads/ebpf-bench/baseline"]].Tree][packFile] = githubtest.SHA("blob", "nonsense\n!")
	if n := len(list(t, f.branch(""))); n != runs {
		t.Errorf("%d runs without the shortcut", n)
	}
}

func TestABranchIsAStore(t *testing.T) {
	f := newFake(t)
	b := f.branch("")
	ctx := t.Context()
	if _, err := b.Load(ctx, "20261121T114900Z-5f0c2a91"); !errors.Is(err, baseline.ErrNotFound) {
		t.Errorf("load from no branch: %v", err)
	}
	if runs := list(t, b); len(runs) != 0 {
		t.Errorf("no branch lists %v", runs)
	}
	var saved []baseline.Meta
	for i := range 5 {
		m, err := b.Save(ctx, testEntry(i))
		if err != nil {
			t.Fatal(err)
		}
		saved = append(saved, m)
	}
	if err := b.Tag(ctx, saved[0].ID, "v1"); err != nil {
		t.Fatal(err)
	}
	if err := b.Tag(ctx, saved[1].ID, "v2"); err != nil {
		t.Fatal(err)
	}
	if err := b.Untag(ctx, saved[1].ID, "v2"); err != nil {
		t.Fatal(err)
	}
	h, err := b.History(ctx, baseline.Query{Limit: 3}, baseline.Series{Measure: "latency"})
	if err != nil || !slices.Equal(h.Values("xdp", "latency"), []float64{4, 3, 2}) {
		t.Errorf("history %v, %v", h, err)
	}
	p, err := b.Prune(ctx, 2)
	if err != nil || len(p.Runs) != 2 {
		t.Errorf("pruned %+v, %v", p, err)
	}
	left := list(t, b)
	if len(left) != 3 || !slices.Equal(left[2].Tags, []string{"v1"}) {
		t.Errorf("left %+v", left)
	}
	if problems, err := f.checkout("ebpf-bench/baseline", "").Verify(ctx); err != nil || len(problems) > 0 {
		t.Errorf("problems %v, error %v", problems, err)
	}
}

func TestWhatIsBesideTheStoreStays(t *testing.T) {
	f := newFake(t)
	readme := githubtest.SHA("blob", "hello")
	f.Blobs[readme] = []byte("hello")
	f.Trees["t"] = map[string]string{"README.md": readme, "runs/../../evil": readme, "other/index/x": readme}
	f.Commits["aaaa"] = githubtest.Commit{Tree: "t"}
	f.Refs["refs/heads/ebpf-bench/baseline"] = "aaaa"
	b := f.branch("")
	if _, err := b.Save(t.Context(), testEntry(1)); err != nil {
		t.Fatal(err)
	}
	if len(list(t, b)) != 1 || string(f.Files("ebpf-bench/baseline")["README.md"]) != "hello" {
		t.Errorf("files %v", slices.Sorted(maps.Keys(f.Files("ebpf-bench/baseline"))))
	}
}

func TestDamageOnTheBranchIsToldOfTheBranch(t *testing.T) {
	f := newFake(t)
	m, err := f.branch("").Save(t.Context(), testEntry(1))
	if err != nil {
		t.Fatal(err)
	}
	f.Blobs[githubtest.SHA("blob", "x")] = []byte("x")
	tree := f.Trees[f.Commits[f.Refs["refs/heads/ebpf-bench/baseline"]].Tree]
	tree["runs/"+m.ID+"/run.json.zst"] = githubtest.SHA("blob", "x")
	_, err = f.branch("").Load(t.Context(), m.ID)
	if p, ok := errors.AsType[baseline.Problem](err); !ok || p.File != "ebpf-bench/baseline:runs/"+m.ID+"/run.json.zst" {
		t.Errorf("error %v", err)
	}
	// Saving the run again repairs it.
	if _, err := f.branch("").Save(t.Context(), testEntry(1)); err == nil {
		_, err = f.branch("").Load(t.Context(), m.ID)
		if err != nil {
			t.Error(err)
		}
	} else {
		t.Error(err)
	}
}

func TestABlobThatIsAnotherIsRefused(t *testing.T) {
	f := newFake(t)
	m, err := f.branch("").Save(t.Context(), testEntry(1))
	if err != nil {
		t.Fatal(err)
	}
	tree := f.Trees[f.Commits[f.Refs["refs/heads/ebpf-bench/baseline"]].Tree]
	f.Blobs[tree["runs/"+m.ID+"/run.json.zst"]] = []byte("something else")
	if _, err := f.branch("").Load(t.Context(), m.ID); err == nil || !strings.Contains(err.Error(), "different") {
		t.Errorf("error %v", err)
	}
}

func TestAReadOnlyTokenReadsAndSaysThatItMayNotSave(t *testing.T) {
	f := newFake(t)
	if _, err := f.branch("").Save(t.Context(), testEntry(1)); err != nil {
		t.Fatal(err)
	}
	for _, status := range []int{403, 404} {
		f.Denied["git"] = status
		_, err := f.branch("").Save(t.Context(), testEntry(2))
		if !errors.Is(err, github.ErrReadOnly) || bench.Hint(err) == "" {
			t.Errorf("save: %v", err)
		}
		if len(list(t, f.branch(""))) != 1 {
			t.Error("it cannot read")
		}
	}
}

func TestARuleThatRefusesTheBranchIsNoRace(t *testing.T) {
	f := newFake(t)
	b := f.branch("")
	if _, err := b.Save(t.Context(), testEntry(1)); err != nil {
		t.Fatal(err)
	}
	f.Rejects["PATCH git/refs/heads/ebpf-bench/baseline"] = true
	_, err := b.Save(t.Context(), testEntry(2))
	if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "rule violations") {
		t.Errorf("error %v", err)
	}
	if n := f.Count("PATCH "); n != maxRefusals {
		t.Errorf("%d tries", n)
	}
}

func TestAnEmptyRepositoryIsAnErrorAtOnce(t *testing.T) {
	f := newFake(t)
	f.Empty = true
	b := f.branch("")
	if len(list(t, b)) != 0 {
		t.Error("it lists something")
	}
	if _, err := b.Save(t.Context(), testEntry(1)); err == nil || !strings.Contains(err.Error(), "empty") {
		t.Errorf("error %v", err)
	}
}

func TestEveryFileOfAStoreComesToTheBranch(t *testing.T) {
	dir := t.TempDir()
	d := folder.Open(dir)
	m, err := d.Save(t.Context(), testEntry(1))
	if err == nil {
		err = d.Tag(t.Context(), m.ID, "v1")
	}
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, path)
		if err == nil && !e.IsDir() && name != "lock" && !fileForm.MatchString(name) {
			t.Errorf("%s would be left behind", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestNamesOfBranches(t *testing.T) {
	a := newFake(t).api()
	for _, name := range []string{"", "-x", "a..b", "a b", "a/../b", "/a", "a/", "a.lock", "a?b", "refs\n", strings.Repeat("a", 300)} {
		if _, err := Open(a, name, "", ""); err == nil {
			t.Errorf("branch %q is taken", name)
		}
		if _, err := Open(a, "x", name, ""); err == nil && name != "" && name != "a..b" && name != "a.lock" {
			t.Errorf("folder %q is taken", name)
		}
	}
}

// A request that fails is sent again, up to four times: a file that is sent twice is
// the same one.
func TestSavingIsTriedAgain(t *testing.T) {
	f := newFake(t)
	f.Broken = 4
	if _, err := f.branch("").Save(t.Context(), testEntry(1)); err != nil {
		t.Error(err)
	}
}
