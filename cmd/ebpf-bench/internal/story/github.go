package story

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/github/githubtest"
	"github.com/org/ebpf-bench-action/internal/sides"
)

// gitHub is the GitHub of a story, with the repository o/r.
type gitHub struct{ *githubtest.Fake }

// gitHubKey is the key of a story's GitHub.
type gitHubKey struct{}

// playGitHub plays GitHub: its runner's variables, and its API.
//
//	github start                                   serve the API, set the token
//	github event push DIR:REV                      what a push to main sets
//	github event pull_request N DIR:HEAD DIR:BASE [fork]
//	github event merge_group DIR:HEAD DIR:BASE
//	github event workflow_run DIR:HEAD BRANCH [fork]
//	github head N DIR:REV                          the pull request moves on
//	github into N BRANCH                           it is into another branch than main
//	github parents DIR:REV DIR:PARENT              what the API says of a commit
//	github deny PART STATUS                        refuse to write below PART
//	github dump                                    comments.md, checks.json, ...
func playGitHub(ts *testscript.TestScript, neg bool, args []string) {
	g := ts.Value(gitHubKey{}).(*gitHub)
	if neg || len(args) == 0 {
		ts.Fatalf("usage: github start|event|head|deny|dump")
	}
	if g.Fake != nil {
		// Its client is another process: nothing else orders the two.
		g.Lock()
		defer g.Unlock()
	}
	switch args[0] {
	case "start":
		g.Fake = githubtest.New()
		ts.Defer(g.Close)
		for name, value := range map[string]string{
			"GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "o/r", "GITHUB_API_URL": g.URL, "GITHUB_SERVER_URL": g.URL, "GITHUB_TOKEN": githubtest.Token,
			"GITHUB_RUN_ID": "42", "GITHUB_WORKFLOW": "bench", "GITHUB_JOB": "bench",
			"GITHUB_OUTPUT": inWork(ts, "output"), "GITHUB_STEP_SUMMARY": inWork(ts, "summary.md"), "GITHUB_ENV": inWork(ts, "env"),
		} {
			ts.Setenv(name, value)
		}
	case "event":
		g.event(ts, args[1], args[2:])
	case "head":
		g.pull(args[1])["head"].(map[string]any)["sha"] = revision(ts, args[2])
	case "into":
		g.pull(args[1])["base"].(map[string]any)["ref"] = args[2]
	case "parents":
		g.Parents[revision(ts, args[1])] = []string{revision(ts, args[2])}
	case "deny":
		status, err := strconv.Atoi(args[2])
		ts.Check(err)
		g.Denied[args[1]] = status
	case "dump":
		g.dump(ts)
	default:
		ts.Fatalf("github: what is %s?", args[0])
	}
}

func (g *gitHub) event(ts *testscript.TestScript, name string, args []string) {
	repository := map[string]any{"full_name": "o/r", "default_branch": "main"}
	head := "o/r"
	if args[len(args)-1] == "fork" {
		head = "stranger/r"
	}
	payload := map[string]any{"repository": repository}
	var sha string
	switch name {
	case "push":
		sha = revision(ts, args[0])
		payload["ref"], payload["after"] = "refs/heads/main", sha
	case "pull_request":
		number, err := strconv.Atoi(args[0])
		ts.Check(err)
		sha = revision(ts, args[1])
		side := func(ref, sha, repo string) map[string]any {
			return map[string]any{"ref": ref, "sha": sha, "repo": map[string]any{"full_name": repo}}
		}
		p := map[string]any{
			"number": number, "head": side("change", sha, head), "base": side("main", revision(ts, args[2]), "o/r"),
		}
		payload["number"], payload["pull_request"] = number, p
		g.Pulls = slices.DeleteFunc(g.Pulls, func(p map[string]any) bool { return p["number"] == number })
		g.Pulls = append(g.Pulls, p)
	case "merge_group":
		sha = revision(ts, args[0])
		payload["merge_group"] = map[string]any{
			"head_sha": sha, "head_ref": "refs/heads/gh-readonly-queue/main/pr-7", "base_sha": revision(ts, args[1]), "base_ref": "refs/heads/main",
		}
	case "workflow_run":
		sha = revision(ts, args[0])
		payload["workflow_run"] = map[string]any{
			"event": "pull_request", "head_sha": sha, "head_branch": args[1], "head_repository": map[string]any{"full_name": head},
		}
	default:
		ts.Fatalf("github event: what is %s?", name)
	}
	text, err := json.Marshal(payload)
	ts.Check(err)
	file := inWork(ts, "event.json")
	ts.Check(os.WriteFile(file, text, 0o644))
	ts.Setenv("GITHUB_EVENT_NAME", name)
	ts.Setenv("GITHUB_EVENT_PATH", file)
	ts.Setenv("GITHUB_SHA", sha)
	ts.Setenv("GITHUB_REF_NAME", "main")
}

func (g *gitHub) pull(number string) map[string]any {
	for _, p := range g.Pulls {
		if fmt.Sprint(p["number"]) == number {
			return p
		}
	}
	return nil
}

// dump writes the state of the API to files in the story's folder.
func (g *gitHub) dump(ts *testscript.TestScript) {
	var comments []string
	for i, c := range g.Comments {
		comments = append(comments, fmt.Sprintf("COMMENT %d\n%s", i+1, c["body"]))
	}
	write := func(name, text string) { ts.Check(os.WriteFile(inWork(ts, name), []byte(text), 0o644)) }
	write("comments.md", strings.Join(comments, "\n"))
	for name, v := range map[string]any{"checks.json": g.Checks, "statuses.json": g.Statuses} {
		text, err := json.MarshalIndent(v, "", "  ")
		ts.Check(err)
		write(name, string(text)+"\n")
	}
	refs, err := g.Git("for-each-ref", "--format=%(refname)")
	ts.Check(err)
	write("refs", refs+"\n")
	write("requests", strings.Join(g.Requests, "\n")+"\n")
}

// inWork returns the path of a file in the story's own folder, whatever the current
// folder.
func inWork(ts *testscript.TestScript, name string) string {
	return filepath.Join(ts.Getenv("WORK"), name)
}

// revision returns the commit of DIR:REV, or arg itself if it does not have that form.
func revision(ts *testscript.TestScript, arg string) string {
	dir, rev, ok := strings.Cut(arg, ":")
	if !ok {
		return arg
	}
	out, err := exec.Command("git", "-C", filepath.Join(ts.Getenv("WORK"), dir), "rev-parse", rev).Output()
	ts.Check(err)
	return strings.TrimSpace(string(out))
}

// makeComparison writes the numbers of two runs as a comparison for a commit: comparison
// FILE BASE HEAD DIR:REV.
func makeComparison(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 || len(args) > 5 {
		ts.Fatalf("usage: comparison FILE BASE HEAD DIR:REV [BRANCH]")
	}
	m := &sides.Matchup{Base: &sides.Side{Runs: readRuns(ts, args[1])}, Head: &sides.Side{Runs: readRuns(ts, args[2])}}
	m.Base.Name, m.Head.Name, m.Head.Commit = "main", "change", revision(ts, args[3])
	m.Base.Branch = strings.Join(args[4:], "")
	file, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	defer file.Close()
	ts.Check(bench.EncodeComparisons(file, m.Compare()...))
}
