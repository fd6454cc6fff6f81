package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/internal/testenv"
)

// suite is the suite of a project, whose make bpf builds the object.
const suite = `version: 1
objects: [bpf/fun_xdp_bpfel.o]
benchmarks:
  - name: basic
    program: fun_xdp_basic
    test_run: {packets: &packets [{ipv4: {src: 10.0.0.252-10.0.0.255, dst: 10.0.1.1}, udp: {src: 4000, dst: 53}, size: 64}]}
  - name: fibonacci
    program: fun_xdp_fibonacci
    test_run: {packets: *packets}
`

// The costs of a run of fibonacci by the table, and by the loop.
const costs, costsSlow = "124.25", "1,610.25"

// built is the compiler's output, which stands in for a compiler.
const built = "compiled/fun_xdp_bpfel.o"

// project makes a repository whose workflows are those recipes, with a program that is
// quick on main.
func project(t testing.TB, gh *github, edit func(string) string, recipes ...string) (s *scratch, quick, slow []byte) {
	t.Helper()
	quick, slow = builds(t)
	files := map[string][]byte{
		"ebpf-bench.yml": []byte(suite),
		"Makefile":       []byte(".PHONY: bpf\nbpf:\n\tmkdir -p bpf\n\tcp " + built + " bpf/\n"),
		".gitignore":     []byte("/bpf/*.o\n"),
		"bpf/fun_xdp.c":  source(t),
		built:            quick,
	}
	for _, name := range recipes {
		text, err := os.ReadFile("../docs/recipes/" + name)
		if err != nil {
			t.Fatal(err)
		}
		files[".github/workflows/"+name] = []byte(edit(string(text)))
	}
	s = newScratch(t, gh)
	s.commit("main", "Programs, a suite and a workflow", files)
	return s, quick, slow
}

func asItIs(text string) string { return text }

// with returns the arguments that make act take this repository for the published action,
// and run that recipe.
func with(t testing.TB, recipe string) []string {
	return []string{"-W", ".github/workflows/" + recipe, "--local-repository", "org/ebpf-bench-action@v1=" + published(t)}
}

const here = owner + "/" + repo

// The life of a repository that keeps a baseline on a branch: a pull request that makes a
// program slow is stopped, its author gets one comment, which is updated when they push,
// and the pull request that makes it quick again gets a comment that says so.
func TestStoredBase(t *testing.T) {
	testenv.Long(t, "runs a workflow")
	t.Parallel()
	testenv.Takes(t, 5*time.Minute)
	gh := newGitHub(t)
	s, quickBuild, slowBuild := project(t, gh, asItIs, "stored.yml")
	use := with(t, "stored.yml")

	if saved := act(t, gh, s, s.pushed("main"), use...); saved.code != 0 {
		t.Fatal("a push to main failed")
	}
	if commits := s.baseline(); len(commits) != 1 {
		t.Fatalf("a push to main saved a baseline of the commits %v", commits)
	}

	s.commit("slow", "Look it up by a loop", map[string][]byte{built: slowBuild})
	number := s.openPullRequest("slow")
	failed := act(t, gh, s, s.synchronized(number, "slow", here), use...)
	first := stopped(t, gh, s, failed, number, "slow")

	s.commit("slow", "Look it up by a table again", map[string][]byte{built: quickBuild})
	passed(t, act(t, gh, s, s.synchronized(number, "slow", here), use...))
	if second := gh.onlyComment(number); second.ID != first.ID || regexp.MustCompile(`(?i)regressed|1 regression`).MatchString(second.Body) {
		t.Errorf("what was mended is still said: %s", second.Body)
	}

	// The slow one was merged anyway.
	s.commit("main", "Look it up by a loop", map[string][]byte{built: slowBuild})
	act(t, gh, s, s.pushed("main"), use...)
	if commits := s.baseline(); len(commits) != 2 {
		t.Errorf("after the second push to main the baseline has the commits %v", commits)
	}
	s.commit("fix", "Look it up by a table", map[string][]byte{built: quickBuild})
	number = s.openPullRequest("fix")
	mended := act(t, gh, s, s.synchronized(number, "fix", here), use...)
	passed(t, mended)
	if n := mended.outputs["improvements"]; n == "0" || n == "" {
		t.Errorf("outputs: improvements %q", n)
	}
	tells(t, "the comment", gh.onlyComment(number).Body, "improve", "fibonacci", costsSlow, costs)
	if check := gh.onlyCheck(s.git("rev-parse", "fix")); check.Conclusion != "success" {
		t.Errorf("the check of the fix concluded with %s", check.Conclusion)
	}
}

// It needs no set-up: the workflow builds base and head.
func TestBuiltBase(t *testing.T) {
	t.Parallel()
	gh := newGitHub(t)
	s, _, slowBuild := project(t, gh, asItIs, "plain.yml")
	use := with(t, "plain.yml")
	s.commit("slow", "Look it up by a loop", map[string][]byte{built: slowBuild})
	number := s.openPullRequest("slow")
	stopped(t, gh, s, act(t, gh, s, s.synchronized(number, "slow", here), use...), number, "slow")
	if commits := s.baseline(); len(commits) > 0 {
		t.Error("a baseline was stored")
	}
}

// Two workflows comment on a fork's pull request, which one alone may not.
func TestForkPair(t *testing.T) {
	testenv.Long(t, "runs a workflow")
	t.Parallel()
	testenv.Takes(t, 5*time.Minute)
	gh := newGitHub(t)
	s, _, slowBuild := project(t, gh, asItIs, "fork-measure.yml", "fork-report.yml")
	artifacts := standIns(t)
	s.commit("slow", "Look it up by a loop", map[string][]byte{built: slowBuild})
	number := s.openPullRequest("slow")
	pull := s.synchronized(number, "slow", "stranger/"+repo)

	gh.setReadOnly(true)
	if measured := act(t, gh, s, pull, append(with(t, "fork-measure.yml"), artifacts...)...); measured.code == 0 {
		t.Error("a fork's regression passed")
	}
	if all := gh.comments(number); len(all) != 0 {
		t.Errorf("there are comments before the report: %+v", all)
	}
	gh.setReadOnly(false)
	reported := act(t, gh, s, s.reported("bench", pull), append(with(t, "fork-report.yml"), artifacts...)...)
	stopped(t, gh, s, reported, number, "slow")
}

// A fork whose objects do not build gets a comment too.
func TestForkThatDoesNotBuild(t *testing.T) {
	testenv.Long(t, "runs a workflow")
	t.Parallel()
	testenv.Takes(t, 5*time.Minute)
	gh := newGitHub(t)
	s, _, _ := project(t, gh, asItIs, "fork-measure.yml", "fork-report.yml")
	artifacts := standIns(t)
	s.commit("broken", "Break it", map[string][]byte{"Makefile": []byte("bpf:\n\tfalse\n")})
	number := s.openPullRequest("broken")
	pull := s.synchronized(number, "broken", "stranger/"+repo)
	gh.setReadOnly(true)
	if measured := act(t, gh, s, pull, append(with(t, "fork-measure.yml"), artifacts...)...); measured.code == 0 {
		t.Error("a fork that does not build passed")
	}
	gh.setReadOnly(false)
	reported := act(t, gh, s, s.reported("bench", pull), append(with(t, "fork-report.yml"), artifacts...)...)
	if v := reported.outputs["verdict"]; reported.code == 0 || v != "error" {
		t.Errorf("exit code %d, verdict %q", reported.code, v)
	}
	tells(t, "the comment", gh.onlyComment(number).Body, "could not measure", "no file matches")
	if check := gh.onlyCheck(s.git("rev-parse", "broken")); check.Conclusion != "failure" {
		t.Errorf("the check concluded with %s", check.Conclusion)
	}
}

// uncontained returns the recipe of the matrix for this machine instead of a container,
// with two kernels.
func uncontained(text string) string {
	text = regexp.MustCompile(`(?m)^    container:.*\n`).ReplaceAllString(text, "")
	text = regexp.MustCompile(`(?s)      - name: Install what the container lacks.*?(      - uses)`).ReplaceAllString(text, "$1")
	return strings.Replace(text, `["5.10", "6.1", "6.12"]`, `["6.1", "6.12"]`, 1)
}

// The shards of a suite, on two kernels, make one report.
func TestMatrix(t *testing.T) {
	testenv.Long(t, "runs a workflow")
	t.Parallel()
	testenv.Takes(t, 5*time.Minute)
	gh := newGitHub(t)
	s, _, slowBuild := project(t, gh, uncontained, "matrix.yml")
	s.commit("slow", "Look it up by a loop", map[string][]byte{built: slowBuild})
	number := s.openPullRequest("slow")
	r := act(t, gh, s, s.synchronized(number, "slow", here), append(with(t, "matrix.yml"), standIns(t)...)...)
	body := stopped(t, gh, s, r, number, "slow").Body
	tells(t, "the comment", body, `6\.1\.`, `6\.12\.`, "basic")
}

// A shard that could not be measured is named, beside the findings of the others.
func TestMatrixThatLacksAPart(t *testing.T) {
	testenv.Long(t, "runs a workflow")
	t.Parallel()
	testenv.Takes(t, 5*time.Minute)
	gh := newGitHub(t)
	s, _, slowBuild := project(t, gh, func(text string) string {
		text = strings.Replace(uncontained(text), `["6.1", "6.12"]`, `["6.12"]`, 1)
		return strings.Replace(text, "build: make bpf", "build: ${{ matrix.shard == 1 && 'false' || 'make bpf' }}", 1)
	}, "matrix.yml")
	s.commit("slow", "Look it up by a loop", map[string][]byte{built: slowBuild})
	number := s.openPullRequest("slow")
	r := act(t, gh, s, s.synchronized(number, "slow", here), append(with(t, "matrix.yml"), standIns(t)...)...)
	body := stopped(t, gh, s, r, number, "slow").Body
	tells(t, "the comment", body, `shard 1/2 is in no file`)
}

// standIns returns the arguments that make act use the actions in testdata instead of
// those of GitHub that must be downloaded, or need a service.
func standIns(t testing.TB) []string {
	t.Helper()
	args := []string{"--env", "ARTIFACTS=" + t.TempDir()}
	uses := regexp.MustCompile(`uses: +(actions/([a-z-]+))@([0-9a-f]{40})`)
	for _, path := range workflows(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range uses.FindAllStringSubmatch(string(text), -1) {
			stand, err := filepath.Abs("testdata/" + m[2])
			if err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(stand); err == nil {
				args = append(args, "--local-repository", m[1]+"@"+m[3]+"="+stand)
			}
		}
	}
	return args
}

// stopped checks that a run stopped a pull request for the slow Fibonacci, and said so
// everywhere.
func stopped(t testing.TB, gh *github, s *scratch, r *run, number int, branch string) comment {
	t.Helper()
	if r.code == 0 {
		t.Error("a regression passed")
	}
	if v, n := r.outputs["verdict"], r.outputs["regressions"]; v != "regression" || n == "0" || n == "" {
		t.Errorf("outputs: verdict %q, regressions %q", v, n)
	}
	c := gh.onlyComment(number)
	tells(t, "the comment", c.Body, "regression", "fibonacci", costs, costsSlow, `\[.bpf/fun_xdp\.c:[0-9]+.\]\(https?://[^)]*/blob/`+s.git("rev-parse", branch)+`/bpf/fun_xdp\.c#L[0-9]+\)`)
	tells(t, "the summary", r.summary, "regression", "fibonacci", costs, costsSlow)
	check := gh.onlyCheck(s.git("rev-parse", branch))
	if check.Conclusion != "failure" {
		t.Errorf("the check concluded with %s", check.Conclusion)
	}
	at := dearestLine(t)
	for _, a := range gh.annotations(check) {
		if a.Path == "bpf/fun_xdp.c" && a.Start == at && strings.Contains(a.Message, "fibonacci") {
			return c
		}
	}
	t.Errorf("no annotation is on line %d of the program's source: %+v", at, gh.annotations(check))
	return c
}

func passed(t testing.TB, r *run) {
	t.Helper()
	if r.code != 0 || r.outputs["verdict"] != "pass" {
		t.Errorf("exit code %d, verdict %q", r.code, r.outputs["verdict"])
	}
}

// tells fails for each pattern that a text does not match.
func tells(t testing.TB, what, text string, patterns ...string) {
	t.Helper()
	for _, p := range patterns {
		if !regexp.MustCompile(`(?i)` + p).MatchString(text) {
			t.Errorf("%s does not tell %q:\n%s", what, p, text)
		}
	}
}
