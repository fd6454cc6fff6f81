package branch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/baseline/folder"
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/git"
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

const branchName = "ebpf-bench/baseline"

func (f *fake) branch(folder string) *Store { return f.branchAs(githubtest.Token, folder) }

func (f *fake) branchAs(token, folder string) *Store {
	f.t.Helper()
	b, err := Open(Remote{
		URL: f.URL + "/o/r.git", Env: os.Environ(), Settings: git.Login(f.URL, github.GitHeaders(token)), Pause: time.Millisecond,
	}, branchName, folder, f.t.TempDir())
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

// set changes fields. The client is git, another process: nothing else orders the two.
func (f *fake) set(change func()) {
	f.Lock()
	defer f.Unlock()
	change()
}

func (f *fake) requests() (all []string) {
	f.set(func() { all = slices.Clone(f.Requests) })
	return all
}

// git returns the output of a git command in the repository.
func (f *fake) git(args ...string) string {
	f.t.Helper()
	out, err := f.Git(args...)
	if err != nil {
		f.t.Fatal(err)
	}
	return out
}

// commits returns how many commits the branch has.
func (f *fake) commits() string { return f.git("rev-list", "--count", branchName) }

// checkout makes a checkout of the branch.
func (f *fake) checkout() string {
	dir := f.t.TempDir()
	f.git("--work-tree", dir, "checkout", "--quiet", "--force", branchName, "--", ".")
	return dir
}

// edit adds a commit to the branch that does what a shell command does in a checkout.
func (f *fake) edit(command string) {
	f.t.Helper()
	cmd := exec.Command("sh", "-ec", `
		git clone -q "$0" .
		git checkout -q `+branchName+` 2>/dev/null || git checkout -q --orphan `+branchName+`
		`+command+`
		git add --all .
		git -c user.name=a -c user.email=a@example.org commit -q -m edited
		git push -q origin HEAD:`+branchName, f.Origin)
	cmd.Dir = f.t.TempDir()
	if out, err := cmd.CombinedOutput(); err != nil {
		f.t.Fatalf("%v\n%s", err, out)
	}
}

func TestWritersLoseNothing(t *testing.T) {
	f := newFake(t)
	const writers = 8
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
	if f.Count("GET /o/r.git/info/refs?service=git-receive-pack") == writers {
		t.Error("no two writers met")
	}
	for what, s := range map[string]baseline.Store{"branch": f.branch(""), "checkout": folder.Open(f.checkout())} {
		if runs := list(t, s); len(runs) != writers {
			t.Errorf("%s: %d runs", what, len(runs))
		}
		if problems, err := s.Verify(t.Context()); err != nil || len(problems) > 0 {
			t.Errorf("%s: problems %v, error %v", what, problems, err)
		}
	}
	// There is one commit per run, one after the other, and no others.
	if n := f.commits(); n != fmt.Sprint(writers) {
		t.Errorf("%s commits", n)
	}
}

func TestARunComesBackWhole(t *testing.T) {
	for _, below := range []string{"", "suites/net"} {
		f := newFake(t)
		want, err := f.branch(below).Save(t.Context(), testEntry(1))
		if err != nil {
			t.Fatal(err)
		}
		for what, s := range map[string]baseline.Store{"branch": f.branch(below), "checkout": folder.Open(filepath.Join(f.checkout(), below))} {
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
	if n := f.commits(); n != "1" {
		t.Errorf("%s commits", n)
	}
}

// However many runs there are: a fetch of the commit and one of all the small files, of two
// requests each.
func TestListingTakesAFewRequests(t *testing.T) {
	f := newFake(t)
	b := f.branch("")
	const runs = 8
	for i := range runs {
		if _, err := b.Save(t.Context(), testEntry(i)); err != nil {
			t.Fatal(err)
		}
	}
	before := f.Count("")
	if n := len(list(t, f.branch(""))); n != runs {
		t.Errorf("%d runs", n)
	}
	if n := f.Count("") - before; n > 6 {
		t.Errorf("%d requests for %d runs: %v", n, runs, f.requests()[before:])
	}
	before = f.Count("")
	if _, err := b.Save(t.Context(), testEntry(runs)); err != nil {
		t.Fatal(err)
	}
	if n := f.Count("") - before; n > 8 {
		t.Errorf("%d requests to save a run: %v", n, f.requests()[before:])
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
	if problems, err := folder.Open(f.checkout()).Verify(ctx); err != nil || len(problems) > 0 {
		t.Errorf("problems %v, error %v", problems, err)
	}
	if files := f.git("ls-tree", "-r", "--name-only", branchName); strings.Contains(files, saved[2].ID) {
		t.Errorf("of a pruned run is left %s", files)
	}
}

// What others keep on the branch stays, and links and attributes there do no harm.
func TestWhatIsBesideTheStoreStays(t *testing.T) {
	f := newFake(t)
	f.edit(`mkdir -p runs other; echo hello > README.md; echo x > other/x; ln -s /etc runs/etc; ln -s /etc/passwd runs/passwd
		printf '* text eol=crlf ident\n' > .gitattributes`)
	b := f.branch("")
	m, err := b.Save(t.Context(), testEntry(1))
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Tag(t.Context(), m.ID, "v1"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Load(t.Context(), m.ID); err != nil {
		t.Error(err)
	}
	want := ".gitattributes README.md other/x runs/" + m.ID + "/"
	if files := strings.Join(strings.Fields(f.git("ls-tree", "-r", "--name-only", branchName)), " "); !strings.HasPrefix(files, want) {
		t.Errorf("files %s, want %s…", files, want)
	}
	if text := f.git("show", branchName+":README.md"); text != "hello" {
		t.Errorf("the README is %q", text)
	}
}

func TestDamageOnTheBranchIsToldOfTheBranch(t *testing.T) {
	f := newFake(t)
	m, err := f.branch("").Save(t.Context(), testEntry(1))
	if err != nil {
		t.Fatal(err)
	}
	f.edit("echo x > runs/" + m.ID + "/run.json.zst")
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

// A run that lacks the file by which runs are listed is missed.
func TestARunWithoutItsFileIsMissed(t *testing.T) {
	f := newFake(t)
	m, err := f.branch("").Save(t.Context(), testEntry(1))
	if err != nil {
		t.Fatal(err)
	}
	f.edit("rm runs/" + m.ID + "/meta.json")
	runs, problems, err := f.branch("").List(t.Context(), baseline.Query{})
	if len(runs) > 0 || len(problems) != 1 || !strings.Contains(problems[0].File, m.ID) || err != nil {
		t.Errorf("runs %v, problems %v, error %v", runs, problems, err)
	}
}

// What is in the place of a folder of the store is neither replaced nor written to.
func TestABranchWithSomethingElseInThePlaceOfAFolder(t *testing.T) {
	for below, make := range map[string]string{
		"":           "echo x > runs",
		"suites/net": "mkdir other; ln -s other suites",
		"a":          "git init -q b; git -C b -c user.name=a -c user.email=a@example.org commit -q --allow-empty -m x; mkdir a; mv b a/runs",
	} {
		f := newFake(t)
		f.edit(make)
		before := f.git("rev-parse", branchName)
		_, err := f.branch(below).Save(t.Context(), testEntry(1))
		if err == nil || !strings.Contains(err.Error(), "is no folder") || f.git("rev-parse", branchName) != before {
			t.Errorf("%s: error %v", make, err)
		}
	}
}

// No setting of the user sends a push elsewhere or refuses it, but those for servers count.
func TestSettingsOfTheUser(t *testing.T) {
	f := newFake(t)
	home := t.TempDir()
	config := fmt.Sprintf("[url %q]\n\tpushInsteadOf = %s/o/r.git\n[remote \"origin\"]\n\tpushurl = %[1]s\n\tmirror = true\n[push]\n\tgpgSign = true\n[http]\n\tuserAgent = of the user\n\textraHeader = Authorization: of another\n", filepath.Join(home, "other.git"), f.URL)
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	t.Setenv("GIT_DEFAULT_HASH", "sha256")
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_CONFIG_KEY_0", "remote.origin.url")
	t.Setenv("GIT_CONFIG_VALUE_0", filepath.Join(home, "other.git"))
	b := f.branch("")
	if _, err := b.Save(t.Context(), testEntry(1)); err != nil {
		t.Fatal(err)
	}
	if len(list(t, b)) != 1 {
		t.Error("the run is elsewhere")
	}
	c, err := b.clone(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.remove()
	if !slices.Contains(c.http, "http.useragent=of the user") || strings.Contains(strings.Join(c.http, " "), "another") {
		t.Errorf("settings for servers: %q", c.http)
	}
}

// Whoever waits for a server that does not answer can stop.
func TestAServerThatDoesNotAnswer(t *testing.T) {
	asked, end := make(chan bool, 8), make(chan bool)
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked <- true; <-end }))
	defer server.Close()
	defer close(end)
	scratch := t.TempDir()
	b, err := Open(Remote{URL: server.URL + "/o/r.git", Env: os.Environ(), Pause: time.Millisecond}, branchName, "", scratch)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	if _, _, err := b.List(ctx, baseline.Query{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if left, err := os.ReadDir(scratch); len(left) > 0 || err != nil {
		t.Errorf("left %v, error %v", left, err)
	}
}

func TestAReadOnlyTokenReadsAndSaysThatItMayNotSave(t *testing.T) {
	f := newFake(t)
	if _, err := f.branch("").Save(t.Context(), testEntry(1)); err != nil {
		t.Fatal(err)
	}
	for _, status := range []int{403, 404} {
		f.set(func() { f.Denied["git"] = status })
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
	hook := filepath.Join(f.Origin, "hooks", "update")
	if err := errors.Join(os.Mkdir(filepath.Dir(hook), 0o755), os.WriteFile(hook, []byte("#!/bin/sh\necho 'GH013: rule violations' >&2\nexit 1\n"), 0o755)); err != nil {
		t.Fatal(err)
	}
	before := f.Count("POST /o/r.git/git-receive-pack")
	_, err := b.Save(t.Context(), testEntry(2))
	if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), ": GH013: rule violations") {
		t.Errorf("error %v", err)
	}
	if n := f.Count("POST /o/r.git/git-receive-pack") - before; n != maxRefusals {
		t.Errorf("%d tries", n)
	}
}

func TestABadTokenCannotRead(t *testing.T) {
	f := newFake(t)
	_, _, err := f.branchAs("other", "").List(t.Context(), baseline.Query{})
	if err == nil || bench.Hint(err) == "" || f.Count("") > 3 {
		t.Errorf("error %v after %v", err, f.requests())
	}
}

func TestNamesOfBranches(t *testing.T) {
	for _, name := range []string{"", "-x", "a..b", "a b", "a/../b", "/a", "a/", "a.lock", "a?b", "refs\n", strings.Repeat("a", 300)} {
		if _, err := Open(Remote{}, name, "", ""); err == nil {
			t.Errorf("branch %q is taken", name)
		}
		if _, err := Open(Remote{}, "x", name, ""); err == nil && name != "" && name != "a..b" && name != "a.lock" {
			t.Errorf("folder %q is taken", name)
		}
	}
}

// A request that fails is sent again, up to four times.
func TestSavingIsTriedAgain(t *testing.T) {
	f := newFake(t)
	f.set(func() { f.Broken = 4 })
	if _, err := f.branch("").Save(t.Context(), testEntry(1)); err != nil {
		t.Error(err)
	}
}

// A push that came through although the answer was lost is not made again.
func TestAPushWhoseAnswerIsLost(t *testing.T) {
	f := newFake(t)
	b := f.branch("")
	for i := range 2 {
		f.set(func() { f.Lost = 1 })
		if _, err := b.Save(t.Context(), testEntry(i)); err != nil {
			t.Error(err)
		}
	}
	if n := f.commits(); n != "2" {
		t.Errorf("%s commits", n)
	}
}
