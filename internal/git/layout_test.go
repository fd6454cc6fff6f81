package git

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/testenv"
)

// sh runs commands in a folder, for a user without settings of git.
func sh(t *testing.T, dir, commands string) string {
	t.Helper()
	cmd := exec.Command("sh", "-ec", commands)
	cmd.Dir = dir
	cmd.Env = append(Unbound(os.Environ()), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", commands, err, out)
	}
	return string(out)
}

// Whatever the checkout and the environment look like, laying out a commit changes nothing
// of the checkout, and what differs from it is known.
func TestLayOut(t *testing.T) {
	testenv.Tools(t, "git")
	for what, c := range map[string]struct {
		prepare string // before the checkout has changes
		then    string
		environ map[string]string
	}{
		"plain": {},
		"in a hook": {environ: map[string]string{
			"GIT_DIR": "repo/.git", "GIT_INDEX_FILE": "repo/.git/index", "GIT_WORK_TREE": "repo", "GIT_PREFIX": "",
		}},
		"sparse checkout": {prepare: `git config core.worktree "$PWD"; git sparse-checkout init; git sparse-checkout disable; git config --worktree core.worktree "$PWD"`},
		"submodule":       {prepare: `git config extensions.worktreeConfig true; git config --worktree core.worktree ../../repo`},
		"bare, with worktrees": {prepare: `git config extensions.worktreeConfig true; git config --worktree core.bare true; mkdir ../tmp
			git --git-dir=.git worktree add -q ../linked change; mv .git ../repo.git; printf 'gitdir: %s/repo.git/worktrees/linked' "$(cd ..; pwd)" >../linked/.git; rm -r ../repo; mv ../linked ../repo
			printf '%s/repo/.git' "$(cd ..; pwd)" >../repo.git/worktrees/linked/gitdir`},
		"git runs at once":  {then: `touch .git/index.lock`},
		"included settings": {prepare: `printf '[core]\nworktree = %s\n' "$PWD" >.git/more; git config include.path more`},
		"objects elsewhere": {prepare: `mv .git/objects ../objects; mkdir -p .git/objects/info; echo ../../../objects >.git/objects/info/alternates`},
		"branch objects/0":  {prepare: `git checkout -q -b objects/0; git commit -q --allow-empty -m more`},
	} {
		t.Run(what, func(t *testing.T) {
			top := t.TempDir()
			checkout := filepath.Join(top, "repo")
			sh(t, top, `git init -q -b main repo; cd repo; echo base >x; echo base >y; git add .; git commit -q -m base
				git checkout -q -b change; echo head >x; git commit -q -a -m head`)
			base := strings.TrimSpace(sh(t, checkout, `git rev-parse main`))
			sh(t, checkout, c.prepare)
			sh(t, checkout, `echo staged >s; git add s; echo edited >>x; echo new >u`)
			sh(t, checkout, c.then)
			state := func() string {
				return sh(t, checkout, `cat x s u; git rev-parse HEAD; git symbolic-ref HEAD; git status --short; git log -g --format=%h HEAD; git diff HEAD; find "$(git rev-parse --git-common-dir)/logs" -type f | sort | xargs cat`)
			}
			before := state()
			t.Chdir(checkout)
			for name, value := range c.environ {
				if value != "" {
					value = filepath.Join(top, value)
				}
				t.Setenv(name, value)
			}
			opened, err := Open(t.Context(), os.Environ(), false)
			if err != nil {
				t.Fatal(err)
			}
			changed, err := opened.Changed(t.Context(), base)
			if got := strings.Join(changed, " "); err != nil || got != "s x u" {
				t.Errorf("changed: %s, %v", got, err)
			}
			dir := filepath.Join(top, "of/ebpf-bench/base")
			for range 2 { // the second time, it is there
				lacks, err := opened.LayOut(t.Context(), base, dir)
				if lacks != nil || err != nil {
					t.Fatalf("%v, and lacks %v", err, lacks)
				}
				sh(t, dir, `test "$(cat x y)" = "$(printf 'base\nbase')"; test -z "$(git status --short)"; git commit -q --allow-empty -m more
					for branch in $(git for-each-ref --format='%(refname)' refs/heads); do git update-ref -m more "$branch" HEAD; done`)
			}
			if after := state(); after != before {
				t.Errorf("the checkout was\n%s\nand is\n%s", before, after)
			}
			if err := Discard(dir); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
				t.Error("the repository stays")
			}
			if err := Discard(checkout); err != nil {
				t.Error(err)
			}
			if _, err := opened.LayOut(t.Context(), base, checkout); err == nil || state() != before {
				t.Errorf("it lays out over a checkout: %v", err)
			}
		})
	}
}

// Settings in the environment, such as those of private servers, stay.
func TestConfigured(t *testing.T) {
	got := configured([]string{"A=b", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=a.b", "GIT_CONFIG_VALUE_0=c"}, []string{"d.e=f=g"})
	want := "A=b GIT_CONFIG_KEY_0=a.b GIT_CONFIG_VALUE_0=c GIT_CONFIG_KEY_1=d.e GIT_CONFIG_VALUE_1=f=g GIT_CONFIG_COUNT=2"
	if strings.Join(got, " ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}
