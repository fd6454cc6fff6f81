package action

import (
	"fmt"
	"io"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/github"
	"github.com/org/ebpf-bench-action/internal/github/githubtest"
	"github.com/org/ebpf-bench-action/internal/report/grid"
)

// What was not compared never passes, and the inputs say whether that fails.
func TestMissBase(t *testing.T) {
	for _, c := range []struct {
		noBase, failOn string
		alone          bool
		lack           lack
		shard          bool
		verdict        string
		want           string
		code           int
	}{
		{"warn", "regression", true, lacksBuild, false, foundPass, foundInconclusive, exit.Pass},
		{"fail", "regression", true, lacksBuild, false, foundPass, foundInconclusive, exit.NotMeasured},
		{"fail", "never", true, lacksBuild, false, foundPass, foundInconclusive, exit.NotMeasured},
		{"warn", "inconclusive", true, lacksBuild, false, foundPass, foundInconclusive, exit.NotMeasured},
		// Judging has already refused what the base was not built for.
		{"warn", "inconclusive", false, "the base was not built", false, foundInconclusive, foundInconclusive, exit.Pass},
		{"fail", "regression", false, "the base was not built", false, foundInconclusive, foundInconclusive, exit.NotMeasured},
		{"fail", "regression", true, lacksBuild, false, foundRegression, foundRegression, exit.NotMeasured},
		{"fail", "regression", true, lacksBuild, true, foundPass, foundPass, exit.Pass},
		{"fail", "regression", true, "", false, foundPass, foundPass, exit.Pass},
	} {
		s := &reporter{step: &step{Options: logTo(io.Discard), in: &inputs{failOn: c.failOn, noBase: c.noBase}}}
		if c.shard {
			s.in.shard = &bench.Shard{Part: 1, Of: 2}
		}
		f := &finding{verdict: c.verdict, alone: c.alone, lack: c.lack, doc: &grid.Document{}}
		s.missBase(t.Context(), f, "")
		if code := exit.CodeOf(s.gate(f)); f.verdict != c.want || code != c.code {
			t.Errorf("%+v: %s, exit code %d", c, f.verdict, code)
		}
	}
}

// A title has no text of a stranger's.
func TestLackOf(t *testing.T) {
	s := &reporter{step: &step{in: &inputs{baseline: defaultBaseline}}}
	for text, want := range map[string]lack{"": lacksAll, "the base does not build": lacksBuild, "✅ no regression": lacksAll} {
		if got := s.lackOf([]*bench.Run{{NoBase: text}}); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
	s.in.baseline = "none"
	if got := s.lackOf([]*bench.Run{{NoBase: "the base does not build"}}); got != "" {
		t.Errorf("where none is wanted: %q", got)
	}
}

// A base that stays broken does not go unnoticed: pull requests whose checks remember it are
// counted.
func TestUncomparedInARow(t *testing.T) {
	gh := githubtest.New()
	t.Cleanup(gh.Close)
	sha := func(number int) string { return fmt.Sprintf("%040d", number) }
	report := func(number int, of lack) int {
		t.Helper()
		s := &reporter{step: &step{Options: logTo(io.Discard), in: &inputs{noBase: "warn"}, on: &github.Context{
			Owner: "o", Repo: "r", APIURL: gh.URL, ServerURL: gh.URL, Event: "pull_request", PullRequest: number, HeadSHA: sha(number),
		}}}
		api, err := github.NewAPI(s.on, githubtest.Token)
		if err != nil {
			t.Fatal(err)
		}
		f := &finding{verdict: foundPass, alone: of != "", lack: of, doc: &grid.Document{}}
		s.api = api
		s.missBase(t.Context(), f, "")
		if _, err := (&publisher{reporter: s, files: &github.Files{}, finding: f}).check(t.Context()); err != nil {
			t.Fatal(err)
		}
		p := map[string]any{"number": number, "head": map[string]any{"ref": fmt.Sprint("change", number), "sha": sha(number), "repo": map[string]any{"full_name": "o/r"}}}
		gh.Lock()
		defer gh.Unlock()
		gh.Pulls = append([]map[string]any{p}, gh.Pulls...)
		return exit.CodeOf(f.err)
	}
	for i, step := range []struct {
		number int
		lack   lack
		want   int
	}{
		{1, lacksSuite, exit.Pass},
		{2, lacksSuite, exit.Pass},
		{3, lacksBuild, exit.Pass},
		{4, lacksRun, exit.Pass},
		{4, lacksBuild, exit.Pass}, // again
		{5, lacksSuite, exit.Pass},
		{6, lacksBuild, exit.NotMeasured},
		{7, "", exit.Pass},
		{8, lacksBuild, exit.Pass},
	} {
		if got := report(step.number, step.lack); got != step.want {
			t.Errorf("report %d, on pull request %d: exit code %d, want %d", i+1, step.number, got, step.want)
		}
	}
}
