package action

import (
	"cmp"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/git"
	"github.com/org/ebpf-bench-action/internal/github"
	"github.com/org/ebpf-bench-action/internal/github/githubtest"
	"github.com/org/ebpf-bench-action/internal/testenv"
)

// gitIn runs git in a folder, as a user without settings.
func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// upstream makes a repository whose branch change left main three commits ago, and returns
// the context of its pull request.
func upstream(t *testing.T) (dir, fork string, on *github.Context) {
	t.Helper()
	testenv.Tools(t, "git")
	dir = t.TempDir()
	gitIn(t, dir, "init", "-q", "-b", "main")
	commit := func(message string) string {
		gitIn(t, dir, "commit", "-q", "--allow-empty", "-m", message)
		return gitIn(t, dir, "rev-parse", "HEAD")
	}
	commit("first")
	fork = commit("fork")
	gitIn(t, dir, "checkout", "-q", "-b", "change")
	commit("one")
	head := commit("two")
	gitIn(t, dir, "checkout", "-q", "main")
	commit("three")
	base := commit("four")
	gitIn(t, dir, "checkout", "-q", "--detach")
	gitIn(t, dir, "merge", "-q", "--no-ff", "-m", "merge", "change")
	gitIn(t, dir, "update-ref", "refs/pull/7/merge", "HEAD")
	gitIn(t, dir, "checkout", "-q", "main")
	return dir, fork, &github.Context{
		Owner: "o", Repo: "r", Event: "pull_request", PullRequest: 7, HeadSHA: head, BaseSHA: base, BaseRef: "main",
		ServerURL: "https://github.com", HeadRepo: "o/r",
	}
}

// cloned makes a checkout of a ref of a repository, as actions/checkout does.
func cloned(t *testing.T, from, ref string, args ...string) *git.Checkout {
	t.Helper()
	dir := t.TempDir()
	gitIn(t, dir, "init", "-q")
	gitIn(t, dir, "remote", "add", "origin", "file://"+from)
	gitIn(t, dir, append([]string{"fetch", "-q"}, append(args, "origin", ref)...)...)
	gitIn(t, dir, "checkout", "-q", "--detach", "FETCH_HEAD")
	t.Chdir(dir)
	c, err := openCheckout(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// layOut lays a commit out, and takes what it lacks for an error.
func layOut(t *testing.T, c *git.Checkout, sha, dir string) error {
	lacks, err := c.LayOut(t.Context(), sha, dir)
	return errors.Join(lacks, err)
}

// baseOf returns the base of what is checked out.
func baseOf(t *testing.T, c *git.Checkout, on *github.Context, api *github.API) (base string, warning, err error) {
	t.Helper()
	is, err := takeTree(t.Context(), c, on)
	if err != nil {
		return "", nil, err
	}
	return is.base(t.Context(), c, on, api)
}

func TestMergeBase(t *testing.T) {
	from, fork, on := upstream(t)
	gh := githubtest.New()
	t.Cleanup(gh.Close)
	gh.MergeBase[on.BaseSHA+"..."+on.HeadSHA] = fork
	onAPI := *on
	onAPI.APIURL = gh.URL
	api, err := github.NewAPI(&onAPI, githubtest.Token)
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		ref   string
		depth []string
		api   *github.API
		want  string
	}{
		"GitHub's merge, shallow":          {"refs/pull/7/merge", []string{"--depth=1"}, nil, on.BaseSHA},
		"GitHub's merge, with its history": {"refs/pull/7/merge", nil, nil, on.BaseSHA},
		"the head, with all history":       {"+refs/heads/*:refs/remotes/origin/*", nil, nil, fork},
		"the head, shallow, by the API":    {"change", []string{"--depth=1"}, api, fork},
		"the head, shallow, alone":         {"change", []string{"--depth=1"}, nil, fork},
	} {
		t.Run(what, func(t *testing.T) {
			checkout := cloned(t, from, c.ref, c.depth...)
			if strings.HasPrefix(what, "the head, with") {
				gitIn(t, checkout.Top, "checkout", "-q", on.HeadSHA)
			}
			got, _, err := baseOf(t, checkout, on, c.api)
			if err != nil || got != c.want {
				t.Fatalf("%s, %v; want %s", got, err, c.want)
			}
			if err := checkout.Need(t.Context(), got); err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(t.TempDir(), "base")
			for range 2 { // as when a job is retried
				if lacks, err := checkout.LayOut(t.Context(), got, dir); lacks != nil || err != nil {
					t.Fatal(lacks, err)
				}
			}
			if at := gitIn(t, dir, "rev-parse", "HEAD"); at != got {
				t.Errorf("the base is at %s", at)
			}
		})
	}
}

// What happens to the base branch after the event changes neither the base nor the words
// about the two sides.
func TestBaseOfAnEvent(t *testing.T) {
	const pull, head = "refs/pull/7/merge", "change"
	for _, c := range []struct {
		name   string
		change func(t *testing.T, from string, on *github.Context)
		ref    string
		// ours, if set, runs in the checkout.
		ours   []string
		merged bool
		// note is a pattern for what the words about the head add, mistaken a part of the
		// error.
		note, mistaken string
	}{
		{name: "GitHub's merge", ref: pull, merged: true},
		{name: "the head", ref: head},
		{name: "the base moved on", change: moveOn, ref: pull, merged: true},
		{name: "the base moved on, the head", change: moveOn, ref: head},
		{name: "the base branch is gone", change: removeBase, ref: pull, merged: true},
		{name: "the base branch is gone, the head", change: removeBase, ref: head},
		{name: "a merge queue", change: queue, ref: pull},
		{name: "a commit on top", ref: head, ours: []string{"commit", "-q", "--allow-empty", "-m", "generated"}, note: `^in the checkout of [0-9a-f]{12}$`},
		{name: "another branch", change: another, ref: "other", note: `^not known to be in the checkout, which is of [0-9a-f]{12}$`},
		{name: "the base", ref: "main", mistaken: "is checked out, a commit of main, and not pull request 7"},
		{name: "histories without a common commit", change: orphan, ref: head, mistaken: "their histories have no commit in common"},
	} {
		t.Run(c.name, func(t *testing.T) {
			from, fork, on := upstream(t)
			gitIn(t, from, "config", "uploadpack.allowAnySHA1InWant", "true")
			if c.change != nil {
				c.change(t, from, on)
			}
			checkout := cloned(t, from, c.ref, "--depth=1")
			if c.ours != nil {
				gitIn(t, checkout.Top, append([]string{"-c", "user.name=a", "-c", "user.email=a@example.org"}, c.ours...)...)
			}
			o := logTo(io.Discard)
			o.Getenv = func(string) string { return "" }
			s := &step{Options: o, in: &inputs{build: "make"}, on: on, state: state(t.TempDir())}
			p := &planner{planned: planned{step: s, plan: &plan{}}}
			err := p.decide(t.Context())
			if c.mistaken != "" {
				if err == nil || !strings.Contains(err.Error(), c.mistaken) {
					t.Fatalf("%+v, %v", p.plan, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := fork
			if c.ref == pull {
				want = on.BaseSHA
			}
			if p.BaseSide != (bench.Side{Name: "main", Commit: want, Branch: "main"}) {
				t.Errorf("base %+v, want %s", p.BaseSide, want)
			}
			if p.HeadSide.Commit != on.HeadSHA || p.HeadSide.Merged != c.merged || !regexp.MustCompile(cmp.Or(c.note, "^$")).MatchString(p.HeadSide.Note) {
				t.Errorf("head %+v", p.HeadSide)
			}
			if at := gitIn(t, s.state.path(baseFolder), "rev-parse", "HEAD"); at != want {
				t.Errorf("the base is at %s, not %s", at, want)
			}
		})
	}
}

func moveOn(t *testing.T, from string, _ *github.Context) {
	gitIn(t, from, "commit", "-q", "--allow-empty", "-m", "five")
}

func removeBase(t *testing.T, from string, _ *github.Context) {
	gitIn(t, from, "checkout", "-q", "--detach")
	gitIn(t, from, "branch", "-q", "-D", "main")
}

func another(t *testing.T, from string, on *github.Context) {
	gitIn(t, from, "checkout", "-q", "-b", "other", on.HeadSHA+"~2")
	gitIn(t, from, "commit", "-q", "--allow-empty", "-m", "other")
}

func queue(t *testing.T, from string, on *github.Context) {
	on.Event, on.PullRequest, on.HeadSHA = "merge_group", 0, gitIn(t, from, "rev-parse", "refs/pull/7/merge")
}

func orphan(t *testing.T, from string, on *github.Context) {
	gitIn(t, from, "checkout", "-q", "--orphan", "other")
	gitIn(t, from, "commit", "-q", "--allow-empty", "-m", "other")
	on.HeadSHA = gitIn(t, from, "rev-parse", "HEAD")
	gitIn(t, from, "branch", "-q", "-f", "change", "other")
}

// Reading a repository runs nothing that it names, and text from GitHub becomes an
// argument only if it has the form of a commit.
func TestCheckoutIsHostile(t *testing.T) {
	from, _, on := upstream(t)
	c := cloned(t, from, "refs/pull/7/merge", "--depth=1")
	ran := filepath.Join(t.TempDir(), "ran")
	script := filepath.Join(c.Top, ".git/evil")
	testenv.Write(t, script, []byte("#!/bin/sh\ntouch "+ran+"\n"))
	for _, name := range []string{"post-checkout", "reference-transaction", "post-index-change"} {
		testenv.Write(t, filepath.Join(c.Top, ".git/hooks", name), []byte("#!/bin/sh\ntouch "+ran+"\n"))
		if err := os.Chmod(filepath.Join(c.Top, ".git/hooks", name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(script, 0o755); err != nil {
		t.Fatal(err)
	}
	gitIn(t, c.Top, "config", "core.fsmonitor", script)
	base, _, err := baseOf(t, c, on, nil)
	if err == nil {
		err = errors.Join(c.Need(t.Context(), base), layOut(t, c, base, filepath.Join(t.TempDir(), "base")))
	}
	if err != nil {
		t.Fatal(err)
	}
	if files, err := c.Files(t.Context()); err != nil || len(files) != 0 {
		t.Errorf("files %q, %v", files, err)
	}
	if all, err := c.Ancestors(t.Context(), base); err != nil || len(all) == 0 {
		t.Errorf("ancestors %q, %v", all, err)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("git ran what the repository names")
	}
	for _, sha := range []string{"--upload-pack=touch " + ran, "main", ""} {
		if c.Fetch(t.Context(), "", sha) == nil || layOut(t, c, sha, filepath.Join(t.TempDir(), "base")) == nil {
			t.Errorf("%q is taken for a commit", sha)
		}
	}
}

// A folder of the working tree is not a repository, even if it looks like one and its
// settings name commands to run.
func TestCheckoutInTheCheckout(t *testing.T) {
	from, _, on := upstream(t)
	c := cloned(t, from, "refs/pull/7/merge", "--depth=1")
	ran := filepath.Join(t.TempDir(), "ran")
	gitIn(t, c.Top, "clone", "-q", "--bare", ".", "bpf")
	gitIn(t, filepath.Join(c.Top, "bpf"), "config", "core.bare", "false")
	gitIn(t, filepath.Join(c.Top, "bpf"), "config", "core.worktree", "..")
	gitIn(t, filepath.Join(c.Top, "bpf"), "config", "alias.evil", "!touch "+ran)
	t.Chdir("bpf")
	if c, err := openCheckout(t.Context(), true); !errors.Is(err, git.ErrNoCheckout) {
		t.Errorf("%+v, %v", c, err)
	}
	evil := &git.Checkout{}
	evil.Login(on.ServerURL, github.GitHeaders("secret"))
	if _, err := evil.Git(t.Context(), "evil"); err == nil {
		t.Error("git takes its settings")
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("git ran what it names")
	}
}

// Only the commands that fetch have the token.
func TestTokenOfGit(t *testing.T) {
	from, _, on := upstream(t)
	c := cloned(t, from, "refs/pull/7/merge", "--depth=1")
	c.Login(on.ServerURL, github.GitHeaders("secret"))
	gitIn(t, c.Top, "config", "alias.environ", "!env")
	out, err := c.Git(t.Context(), "environ")
	if err != nil || strings.Contains(out, "AUTHORIZATION") {
		t.Errorf("%v, %s", err, out)
	}
	environ := filepath.Join(t.TempDir(), "environ")
	gitIn(t, c.Top, "config", "remote.origin.uploadpack", "env > "+environ+"; git-upload-pack")
	if err := c.Fetch(t.Context(), "--depth=1", on.BaseSHA); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(environ); err != nil || !strings.Contains(string(text), "AUTHORIZATION: basic ") {
		t.Errorf("%v, %s", err, text)
	}
}

func TestRepositoryPath(t *testing.T) {
	files := []string{"bpf/filter.c", "bpf/old/filter.c", "src/main.c", "README.md"}
	for _, c := range []struct{ name, prefix, want string }{
		{"filter.c", "bpf", "bpf/filter.c"},
		{"bpf/filter.c", ".", "bpf/filter.c"},
		{"../src/main.c", "bpf", "src/main.c"},
		{"/home/runner/work/r/r/bpf/old/filter.c", ".", "bpf/old/filter.c"},
		{"/somewhere/else/main.c", ".", "src/main.c"},
		{"filter.c", ".", ""}, // there are two
		{"nowhere.c", ".", ""},
		{"../../etc/passwd", ".", ""},
		{"", ".", ""},
	} {
		if got := newSources(files, "/home/runner/work/r/r", c.prefix).path(c.name); got != c.want {
			t.Errorf("%q in %q: %q, want %q", c.name, c.prefix, got, c.want)
		}
	}
	// Nothing is known about a checkout that cannot be read.
	if got := newSources([]string{}, "", ".").path("bpf/filter.c"); got != "" {
		t.Errorf("%q", got)
	}
	// Without a checkout, the path is the one the compiler was given, if it is below the
	// working directory.
	for name, want := range map[string]string{"bpf/filter.c": "bpf/filter.c", "/usr/include/x.h": "", "../x.c": ""} {
		if got := newSources(nil, "", ".").path(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// If git cannot answer, that is an error and not an answer.
func TestGitThatFails(t *testing.T) {
	from, _, on := upstream(t)
	c := cloned(t, from, "refs/pull/7/merge", "--depth=1")
	if all, err := c.Ancestors(t.Context(), strings.Repeat("1", 40)); err == nil {
		t.Errorf("ancestors of nothing: %q", all)
	}
	// If GitHub does not answer, that is reported, and git is asked.
	gh := githubtest.New()
	t.Cleanup(gh.Close)
	on.APIURL = gh.URL
	api, err := github.NewAPI(on, githubtest.Token)
	if err != nil {
		t.Fatal(err)
	}
	c = cloned(t, from, "change", "--depth=1")
	if _, warning, err := baseOf(t, c, on, api); err != nil || !errors.Is(warning, github.ErrNoMergeBase) {
		t.Errorf("%v, and warned of %v", err, warning)
	}
	testenv.Write(t, filepath.Join(c.Top, ".git/index"), []byte("broken"))
	if files, err := c.Files(t.Context()); err == nil {
		t.Errorf("files of a broken index: %q", files)
	}
}

// The base has the submodules that its commit names: changed, nested, and one that the
// head has no more.
func TestSubmodulesOfTheBase(t *testing.T) {
	testenv.Tools(t, "git")
	t.Setenv("GIT_ALLOW_PROTOCOL", "file")
	for what, c := range map[string]struct {
		args    []string
		offline bool
	}{
		"all history, without network": {nil, true},
		"shallow":                      {[]string{"--depth=1"}, false},
	} {
		t.Run(what, func(t *testing.T) {
			from := t.TempDir()
			repository := func(name string) (dir string, commit func(file, text string) string) {
				dir = filepath.Join(from, name)
				gitIn(t, from, "init", "-q", "-b", "main", name)
				gitIn(t, dir, "config", "uploadpack.allowAnySHA1InWant", "true")
				return dir, func(file, text string) string {
					testenv.Write(t, filepath.Join(dir, file), []byte(text))
					gitIn(t, dir, "add", ".")
					gitIn(t, dir, "commit", "-q", "-m", text)
					return gitIn(t, dir, "rev-parse", "HEAD")
				}
			}
			deep, inDeep := repository("deep")
			inDeep("deep.h", "1")
			lib, inLib := repository("lib")
			gitIn(t, lib, "submodule", "--quiet", "add", "file://"+deep, "deep")
			inLib("lib.h", "1")
			old, inOld := repository("old")
			inOld("old.h", "1")
			top, inTop := repository("top")
			gitIn(t, top, "submodule", "--quiet", "add", "file://"+lib, "vendor/lib")
			gitIn(t, top, "submodule", "--quiet", "add", "file://"+old, "old")
			base := inTop("x.c", "base")

			inDeep("deep.h", "2")
			gitIn(t, lib, "submodule", "--quiet", "update", "--init", "--remote")
			inLib("lib.h", "2")
			gitIn(t, top, "submodule", "--quiet", "update", "--init", "--remote", "vendor/lib")
			gitIn(t, top, "rm", "-q", "old")
			inTop("x.c", "head")

			checkout := cloned(t, top, "main", c.args...)
			gitIn(t, checkout.Top, append([]string{"submodule", "--quiet", "update", "--init", "--recursive"}, c.args...)...)
			if !c.offline {
				if err := checkout.Need(t.Context(), base); err != nil {
					t.Fatal(err)
				}
			} else if err := os.Rename(deep, deep+".gone"); err != nil {
				t.Fatal(err)
			} else if err := os.Rename(lib, lib+".gone"); err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(t.TempDir(), "base")
			if err := layOut(t, checkout, base, dir); err != nil {
				t.Fatal(err)
			}
			for file, want := range map[string]string{"x.c": "base", "vendor/lib/lib.h": "1", "vendor/lib/deep/deep.h": "1", "old/old.h": "1"} {
				if text, err := os.ReadFile(filepath.Join(dir, file)); err != nil || string(text) != want {
					t.Errorf("%s: %q, %v", file, text, err)
				}
				head, err := os.ReadFile(filepath.Join(checkout.Top, file))
				if err == nil && string(head) == want {
					t.Errorf("%s of the head changed", file)
				}
			}
			// What a build changes in one repository is not in the other.
			gitIn(t, filepath.Join(dir, "vendor/lib"), "commit", "-q", "--allow-empty", "-m", "of a build")
			if out := gitIn(t, checkout.Top, "status", "--porcelain"); out != "" {
				t.Errorf("the head has changes:\n%s", out)
			}
		})
	}
}

// If a submodule cannot be had, the rest of the base can.
func TestSubmoduleThatIsGone(t *testing.T) {
	testenv.Tools(t, "git")
	t.Setenv("GIT_ALLOW_PROTOCOL", "file")
	lib, top := t.TempDir(), t.TempDir()
	gitIn(t, lib, "init", "-q", "-b", "main")
	gitIn(t, lib, "commit", "-q", "--allow-empty", "-m", "1")
	gitIn(t, top, "init", "-q", "-b", "main")
	gitIn(t, top, "submodule", "--quiet", "add", "file://"+lib, "lib")
	gitIn(t, top, "commit", "-q", "-m", "base")
	base := gitIn(t, top, "rev-parse", "HEAD")
	gitIn(t, filepath.Join(top, "lib"), "commit", "-q", "--allow-empty", "-m", "2")
	gitIn(t, top, "commit", "-q", "-a", "-m", "head")
	checkout := cloned(t, top, "main")
	gitIn(t, checkout.Top, "submodule", "--quiet", "init")
	if err := os.RemoveAll(lib); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "base")
	lacks, err := checkout.LayOut(t.Context(), base, dir)
	if err != nil || lacks == nil || !strings.Contains(lacks.Error(), "fill the submodules: ") {
		t.Errorf("%v, and lacks %v", err, lacks)
	}
	if _, err := os.Stat(filepath.Join(dir, ".gitmodules")); err != nil {
		t.Error(err)
	}
}

// A head that took the files of the only submodule for its own leaves no trace of it.
func TestSubmoduleThatWasVendored(t *testing.T) {
	testenv.Tools(t, "git")
	t.Setenv("GIT_ALLOW_PROTOCOL", "file")
	lib, top := t.TempDir(), t.TempDir()
	gitIn(t, lib, "init", "-q", "-b", "main")
	testenv.Write(t, filepath.Join(lib, "lib.h"), []byte("1"))
	gitIn(t, lib, "add", ".")
	gitIn(t, lib, "commit", "-q", "-m", "1")
	gitIn(t, top, "init", "-q", "-b", "main")
	gitIn(t, top, "submodule", "--quiet", "add", "file://"+lib, "lib")
	gitIn(t, top, "commit", "-q", "-m", "base")
	base := gitIn(t, top, "rev-parse", "HEAD")
	gitIn(t, top, "rm", "-q", "lib")
	testenv.Write(t, filepath.Join(top, "lib/lib.h"), []byte("1"))
	gitIn(t, top, "add", ".")
	gitIn(t, top, "commit", "-q", "-m", "head")
	checkout, dir := cloned(t, top, "main"), filepath.Join(t.TempDir(), "base")
	if err := layOut(t, checkout, base, dir); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "lib/lib.h")); err != nil {
		t.Error(err)
	}
}

// The files of Git LFS are there, not their pointers.
func TestLFSOfTheBase(t *testing.T) {
	testenv.Tools(t, "git", "git-lfs")
	from := t.TempDir()
	gitIn(t, from, "init", "-q", "-b", "main")
	gitIn(t, from, "lfs", "install", "--local")
	gitIn(t, from, "lfs", "track", "*.o")
	testenv.Write(t, filepath.Join(from, "x.o"), []byte("base"))
	gitIn(t, from, "add", ".")
	gitIn(t, from, "commit", "-q", "-m", "base")
	base := gitIn(t, from, "rev-parse", "HEAD")
	testenv.Write(t, filepath.Join(from, "x.o"), []byte("head"))
	gitIn(t, from, "commit", "-q", "-a", "-m", "head")
	dir := t.TempDir()
	gitIn(t, dir, "init", "-q")
	gitIn(t, dir, "lfs", "install", "--local")
	gitIn(t, dir, "remote", "add", "origin", "file://"+from)
	gitIn(t, dir, "fetch", "-q", "origin", "main")
	gitIn(t, dir, "checkout", "-q", "--detach", "FETCH_HEAD")
	t.Chdir(dir)
	checkout, err := openCheckout(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "base")
	if err := layOut(t, checkout, base, out); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(out, "x.o")); err != nil || string(text) != "base" {
		t.Errorf("%q, %v", text, err)
	}
}
