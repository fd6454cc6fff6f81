package action

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/github"
	"github.com/org/ebpf-bench-action/internal/github/githubtest"
	"github.com/org/ebpf-bench-action/internal/testenv"
)

// fail-on applies to each kind of error.
func TestGate(t *testing.T) {
	regression := exit.Regressed(errors.New("slower"))
	failure := exit.NoMeasure(errors.New("a benchmark failed"))
	for _, c := range []struct {
		failOn string
		err    error
		want   int
	}{
		{"regression", nil, exit.Pass},
		{"regression", regression, exit.Regression},
		{"regression", errors.Join(regression, failure), exit.Regression},
		{"inconclusive", nil, exit.Pass},
		{"inconclusive", regression, exit.Regression},
		{"inconclusive", exit.NoMeasure(errors.New("inconclusive")), exit.NotMeasured},
		{"never", regression, exit.Pass},
		{"never", exit.Said(exit.Regression), exit.Pass},
		{"never", failure, exit.NotMeasured},
		{"never", errors.Join(regression, failure), exit.NotMeasured},
		{"never", exit.Usage(errors.New("a threshold is for nothing")), exit.WrongUsage},
	} {
		s := &reporter{step: &step{Options: logTo(io.Discard), in: &inputs{failOn: c.failOn}}}
		if got := exit.CodeOf(s.gate(&finding{err: c.err})); got != c.want {
			t.Errorf("fail-on %s, %v: exit code %d, want %d", c.failOn, c.err, got, c.want)
		}
	}
}

func TestBranchFolder(t *testing.T) {
	for _, c := range []struct {
		name  string
		shard *bench.Shard
		want  string
	}{
		{"", nil, ""},
		{"XDP / fast path", nil, "xdp---fast-path"},
		{"Runs", nil, "runs-"},
		{"tc", &bench.Shard{Part: 2, Of: 8}, "tc/shard-2-of-8"},
	} {
		in := inputs{name: c.name, shard: c.shard}
		if got := in.branchFolder(); got != c.want {
			t.Errorf("%q %v: %q, want %q", c.name, c.shard, got, c.want)
		}
	}
}

func TestInputsRefused(t *testing.T) {
	for _, env := range []map[string]string{
		{"MODE": "host", "KERNELS": "6.12"},
		{"RESULTS": "*.json", "BUILD": "make"},
		{"RESULTS": "*.json", "SHARD": "1/2"},
		{"SHARD": "../../x"},
		{"SHARD": "0/0"},
		{"SHARD": "9/2"},
		{"SHARD": "02/8"},
		{"NAME": "--"},
		{"COMMENT": "sometimes"},
	} {
		_, err := readInputs(func(name string) string { return env[strings.TrimPrefix(name, inputPrefix)] })
		if err == nil {
			t.Errorf("%v is taken", env)
		}
	}
}

// A suite that is a pipe without a writer is not a suite.
func TestPolicyOfAPipe(t *testing.T) {
	name := filepath.Join(t.TempDir(), "ebpf-bench.yml")
	if err := syscall.Mkfifo(name, 0o644); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := (&reporter{step: &step{in: &inputs{config: name}}}).policyFor(nil, nil)
		done <- err
	}()
	select {
	case err := <-done:
		if err == nil {
			t.Error("it is taken for a suite")
		}
	case <-time.After(10 * time.Second):
		t.Error("it waits")
	}
}

// Thresholds that cannot be read are never replaced by others.
func TestPolicy(t *testing.T) {
	t.Chdir(t.TempDir())
	testenv.Write(t, "names.yml", []byte("version: 1\nobjects: [nowhere.o]\nthresholds: team.yml\nbenchmarks: [{name: a, program: a, test_run: {}}]\n"))
	testenv.Write(t, "broken.yml", []byte("version: 1\nthresholds: [\n"))
	for _, c := range []struct {
		what string
		in   inputs
		ok   bool
	}{
		{"no suite by the usual name", inputs{}, true},
		{"no such suite", inputs{config: "nowhere.yml"}, false},
		{"a suite that is none", inputs{config: "broken.yml"}, false},
		{"a suite whose thresholds are not there", inputs{config: "names.yml"}, false},
		{"no such thresholds", inputs{thresholds: "nowhere.yml"}, false},
	} {
		if _, err := (&reporter{step: &step{in: &c.in}}).policyFor(nil, nil); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.what, err)
		}
	}
	testenv.Write(t, "team.yml", []byte("version: 1\nthresholds: [{measure: instructions, max: 50}]\n"))
	in := &inputs{config: "names.yml"}
	p, err := (&reporter{step: &step{in: in}}).policyFor(nil, nil)
	if err != nil || len(p.Thresholds) != 1 {
		t.Errorf("%+v, %v", p, err)
	}
	// For results from elsewhere, each threshold must apply to some.
	testenv.Write(t, "team.yml", []byte("version: 1\nthresholds: [{measure: instructions, kernel: \"6.1\", max: 50}]\n"))
	in.results = "x"
	for kernel, ok := range map[string]bool{"6.1.5": true, "6.12.5": false} {
		all := &bench.Results{Runs: []*bench.Run{{
			Testbed: bench.Testbed{Mode: bench.ModeExact, Kernel: kernel}, Results: []bench.Result{{Benchmark: "a", Driver: "test_run"}},
		}}}
		if _, err := (&reporter{step: &step{in: in}}).policyFor(all, nil); (err == nil) != ok {
			t.Errorf("%s: %v", kernel, err)
		}
		if _, err := (&reporter{step: &step{in: in}}).policyFor(all, errors.New("a shard is missing")); err != nil {
			t.Errorf("%s, and not all is there: %v", kernel, err)
		}
	}
}

// Results from elsewhere are judged even if the token cannot read the pull request; it
// cannot comment there either.
func TestResultsOfAnUnseenPullRequest(t *testing.T) {
	gh := githubtest.New()
	t.Cleanup(gh.Close)
	on := &github.Context{
		Owner: "o", Repo: "r", APIURL: gh.URL, ServerURL: gh.URL, Event: "pull_request", PullRequest: 7,
		HeadSHA: strings.Repeat("1", 40), HeadRepo: "o/r",
	}
	api, err := github.NewAPI(on, githubtest.Token)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file, err := os.Create(filepath.Join(dir, "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	run := &bench.Run{Testbed: bench.Testbed{Mode: bench.ModeExact, Kernel: "6.12"}, Results: []bench.Result{{Benchmark: "x"}}}
	if err := bench.EncodeRuns(file, run); err != nil {
		t.Fatal(err)
	}
	s := &reporter{step: &step{Options: logTo(io.Discard), in: &inputs{results: file.Name(), baseline: "none"}, state: state(dir), on: on}, api: api}
	if found, err := s.foundElsewhere(t.Context()); err != nil || found == nil {
		t.Errorf("%+v, %v", found, err)
	}
}

// Each use of the action has a comment of its own: it is told by its name, or by the job and
// by what is measured.
func TestCommentKeys(t *testing.T) {
	seen := map[string]int{}
	for i, p := range []*publisher{
		{reporter: &reporter{step: &step{in: &inputs{}, on: &github.Context{}}}},
		{reporter: &reporter{step: &step{in: &inputs{}, on: &github.Context{Workflow: "w"}}}},
		{reporter: &reporter{step: &step{in: &inputs{}, on: &github.Context{Job: "j"}}}},
		{reporter: &reporter{step: &step{in: &inputs{config: "c"}, on: &github.Context{}}}},
		{reporter: &reporter{step: &step{in: &inputs{mode: "m"}, on: &github.Context{}}}},
		{reporter: &reporter{step: &step{in: &inputs{kernels: "6.1"}, on: &github.Context{}}}},
		{reporter: &reporter{step: &step{in: &inputs{kernels: "6.12"}, on: &github.Context{}}}},
		{reporter: &reporter{step: &step{in: &inputs{name: "n"}, on: &github.Context{}}}},
	} {
		if first, ok := seen[p.key()]; ok {
			t.Errorf("%d and %d have the key %q", first, i, p.key())
		}
		seen[p.key()] = i
	}
}
