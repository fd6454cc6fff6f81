package e2e

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/github/githubtest"
	"github.com/org/ebpf-bench-action/internal/testenv"
)

// scratch is the repository of a user of the action: a clone to work in, an origin to
// fetch from, and the same commits on the emulated GitHub.
type scratch struct {
	t           testing.TB
	gh          *github
	dir, origin string
	minutes     int
	onGitHub    map[string]bool
}

// newScratch makes an empty repository.
func newScratch(t testing.TB, gh *github) *scratch {
	t.Helper()
	s := &scratch{t: t, gh: gh, onGitHub: map[string]bool{}}
	s.dir, s.origin = filepath.Join(t.TempDir(), "work"), filepath.Join(t.TempDir(), "origin.git")
	output(t, ".", "git", "init", "-q", "--bare", "-b", "main", s.origin)
	handler, err := githubtest.ServeGit(s.origin, gitPrefix, token)
	if err != nil {
		t.Fatal(err)
	}
	gh.git = handler
	output(t, ".", "git", "init", "-q", "-b", "main", s.dir)
	s.git("remote", "add", "origin", s.origin)
	return s
}

// baseline returns the commits of the branch with the baseline, the newest first.
func (s *scratch) baseline() []string {
	s.t.Helper()
	ref := "refs/heads/ebpf-bench-baseline"
	if output(s.t, s.origin, "git", "for-each-ref", ref) == "" {
		return nil
	}
	return strings.Fields(output(s.t, s.origin, "git", "rev-list", ref))
}

// git runs git in the clone. All commits are a minute apart, in UTC.
func (s *scratch) git(args ...string) string {
	s.t.Helper()
	date := fmt.Sprintf("2026-01-01T%02d:%02d:00Z", s.minutes/60, s.minutes%60)
	cmd := exec.Command("git", args...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=author", "GIT_AUTHOR_EMAIL=author@example.com", "GIT_AUTHOR_DATE="+date,
		"GIT_COMMITTER_NAME=author", "GIT_COMMITTER_EMAIL=author@example.com", "GIT_COMMITTER_DATE="+date)
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit makes a commit on a branch, which begins at main if it is new, and pushes it.
func (s *scratch) commit(branch, message string, files map[string][]byte) (sha string) {
	s.t.Helper()
	s.minutes++
	if branch != "main" {
		if _, err := os.Stat(filepath.Join(s.dir, ".git/refs/heads", branch)); err != nil {
			s.git("branch", "-q", branch, "main")
		}
	}
	if s.minutes > 1 {
		s.git("checkout", "-q", branch)
	}
	for name, data := range files {
		testenv.Write(s.t, filepath.Join(s.dir, name), data)
		if bytes.HasPrefix(data, []byte("#!")) {
			if err := os.Chmod(filepath.Join(s.dir, name), 0o755); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	s.git("add", "-A")
	s.git("commit", "-q", "--allow-empty", "-m", message)
	sha = s.git("rev-parse", "HEAD")
	s.push(sha, "refs/heads/"+branch)
	return sha
}

// push sets a ref of the origin, and of the emulated GitHub, to a commit.
func (s *scratch) push(sha, ref string) {
	s.t.Helper()
	s.git("push", "-q", "--force", "origin", sha+":"+ref)
	for commit := range strings.FieldsSeq(s.git("rev-list", "--reverse", "--topo-order", sha)) {
		s.copyCommit(commit)
	}
	var refs []struct{ Ref string }
	s.gh.call(http.MethodGet, "/git/matching-refs/"+strings.TrimPrefix(ref, "refs/"), nil, &refs)
	for _, r := range refs {
		if r.Ref == ref {
			s.gh.call(http.MethodPatch, "/git/"+ref, map[string]any{"sha": sha, "force": true}, nil)
			return
		}
	}
	s.gh.call(http.MethodPost, "/git/refs", map[string]any{"ref": ref, "sha": sha}, nil)
}

// copyCommit makes a commit on the emulated GitHub, which gives it the same hash.
func (s *scratch) copyCommit(sha string) {
	s.t.Helper()
	if s.onGitHub[sha] {
		return
	}
	type entry struct {
		Path string `json:"path"`
		Mode string `json:"mode"`
		Type string `json:"type"`
		SHA  string `json:"sha"`
	}
	var entries []entry
	for line := range strings.Lines(s.git("ls-tree", "-r", sha)) {
		fields := strings.Fields(line)
		content, err := exec.Command("git", "-C", s.dir, "cat-file", "blob", fields[2]).Output()
		if err != nil {
			s.t.Fatal(err)
		}
		s.gh.call(http.MethodPost, "/git/blobs", map[string]any{"content": base64.StdEncoding.EncodeToString(content), "encoding": "base64"}, nil)
		entries = append(entries, entry{Path: fields[3], Mode: fields[0], Type: fields[1], SHA: fields[2]})
	}
	var tree, made struct{ SHA string }
	s.gh.call(http.MethodPost, "/git/trees", map[string]any{"tree": entries}, &tree)
	parents := strings.Fields(s.git("log", "-1", "--format=%P", sha))
	if parents == nil {
		parents = []string{}
	}
	who := map[string]any{"name": "author", "email": "author@example.com", "date": s.git("log", "-1", "--format=%aI", sha)}
	s.gh.call(http.MethodPost, "/git/commits", map[string]any{
		"message": s.git("log", "-1", "--format=%B", sha), "tree": tree.SHA, "parents": parents, "author": who, "committer": who,
	}, &made)
	if made.SHA != sha {
		s.t.Fatalf("commit %s became %s", sha, made.SHA)
	}
	s.onGitHub[sha] = true
}

// openPullRequest opens one to main, and returns its number.
func (s *scratch) openPullRequest(branch string) int {
	s.t.Helper()
	var pull struct{ Number int }
	s.gh.call(http.MethodPost, "/pulls", map[string]any{"title": branch, "head": branch, "base": "main"}, &pull)
	s.gh.setHead(pull.Number, head{owner + "/" + repo, s.git("rev-parse", branch)})
	return pull.Number
}

// event is what starts a run: its name, its payload, and the commit that is checked out.
type event struct {
	name    string
	payload map[string]any
	sha     string
}

// pushed returns the event of a push to a branch.
func (s *scratch) pushed(branch string) event {
	s.t.Helper()
	sha := s.git("rev-parse", branch)
	return event{"push", map[string]any{
		"ref": "refs/heads/" + branch, "before": strings.Repeat("0", 40), "after": sha, "deleted": false,
		"repository": s.payload(),
	}, sha}
}

// synchronized returns the event of a push to a pull request's branch. The checkout is the
// merge, as GitHub makes one.
func (s *scratch) synchronized(number int, branch, from string) event {
	s.t.Helper()
	sha := s.git("rev-parse", branch)
	s.gh.setHead(number, head{from, sha})
	s.minutes++
	s.git("checkout", "-q", "--detach", "main")
	s.git("merge", "-q", "--no-ff", "-m", "Merge "+sha, sha)
	merge := s.git("rev-parse", "HEAD")
	s.git("push", "-q", "--force", "origin", merge+":"+fmt.Sprintf("refs/pull/%d/merge", number))
	return event{"pull_request", map[string]any{
		"action": "synchronize", "number": number, "repository": s.payload(),
		"pull_request": map[string]any{
			"number": number,
			"head":   map[string]any{"sha": sha, "ref": branch, "repo": map[string]any{"full_name": from, "fork": from != owner+"/"+repo}},
			"base":   map[string]any{"sha": s.git("rev-parse", "main"), "ref": "main", "repo": s.payload()},
		},
	}, merge}
}

// reported returns the event after the run of a workflow on a pull request. The checkout
// is main.
func (s *scratch) reported(workflow string, pull event) event {
	s.t.Helper()
	of := pull.payload["pull_request"].(map[string]any)["head"].(map[string]any)
	return event{"workflow_run", map[string]any{
		"action": "completed", "repository": s.payload(),
		"workflow_run": map[string]any{
			"id": 1, "name": workflow, "event": pull.name, "conclusion": "failure",
			"head_sha": of["sha"], "head_branch": of["ref"], "head_repository": of["repo"],
			// GitHub leaves it empty for a fork.
			"pull_requests": []any{},
		},
	}, s.git("rev-parse", "main")}
}

func (s *scratch) payload() map[string]any {
	return map[string]any{
		"name": repo, "full_name": owner + "/" + repo, "default_branch": "main", "fork": false,
		"owner": map[string]any{"login": owner},
	}
}

// checkout makes what actions/checkout leaves for an event: one commit without its
// history, and an origin that has it.
func (s *scratch) checkout(e event) (dir, eventPath string) {
	s.t.Helper()
	dir = filepath.Join(s.t.TempDir(), repo)
	at := "https://github.com/" + owner + "/" + repo
	ref := "refs/remotes/origin/main"
	if n, ok := e.payload["number"]; ok {
		ref = fmt.Sprintf("refs/remotes/pull/%d/merge", n)
	}
	output(s.t, ".", "git", "init", "-q", dir)
	output(s.t, dir, "git", "remote", "add", "origin", at)
	output(s.t, dir, "git", "config", "url.file://"+s.origin+".insteadOf", at)
	output(s.t, dir, "git", "fetch", "-q", "--depth=1", "origin", "+"+e.sha+":"+ref)
	output(s.t, dir, "git", "-c", "advice.detachedHead=false", "checkout", "-q", "--detach", e.sha)
	text, err := json.Marshal(e.payload)
	if err != nil {
		s.t.Fatal(err)
	}
	eventPath = filepath.Join(s.t.TempDir(), "event.json")
	testenv.Write(s.t, eventPath, text)
	return dir, eventPath
}
