package action

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

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
			got, _, err := mergeBase(t.Context(), checkout, on, c.api)
			if err != nil || got != c.want {
				t.Fatalf("%s, %v; want %s", got, err, c.want)
			}
			if err := checkout.Need(t.Context(), got); err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(t.TempDir(), "base")
			for range 2 { // as when a job is retried
				if err := checkout.LayOut(t.Context(), got, dir); err != nil {
					t.Fatal(err)
				}
			}
			if at := gitIn(t, dir, "rev-parse", "HEAD"); at != got {
				t.Errorf("the worktree is at %s", at)
			}
		})
	}
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
	base, _, err := mergeBase(t.Context(), c, on, nil)
	if err == nil {
		err = errors.Join(c.Need(t.Context(), base), c.LayOut(t.Context(), base, filepath.Join(t.TempDir(), "base")))
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
		if c.Fetch(t.Context(), "", sha) == nil || c.LayOut(t.Context(), sha, filepath.Join(t.TempDir(), "base")) == nil {
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
	if _, warning, err := mergeBase(t.Context(), c, on, api); err != nil || !errors.Is(warning, github.ErrNoMergeBase) {
		t.Errorf("%v, and warned of %v", err, warning)
	}
	testenv.Write(t, filepath.Join(c.Top, ".git/index"), []byte("broken"))
	if files, err := c.Files(t.Context()); err == nil {
		t.Errorf("files of a broken index: %q", files)
	}
}
