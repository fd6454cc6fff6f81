package main

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
	"github.com/org/ebpf-bench-action/internal/github"
	"github.com/org/ebpf-bench-action/internal/github/githubtest"
)

// What fail-on makes of each kind of error.
func TestGate(t *testing.T) {
	regression := &exitError{exitRegression, errors.New("slower")}
	failure := noMeasure(errors.New("a benchmark failed"))
	for _, c := range []struct {
		failOn string
		err    error
		want   int
	}{
		{"regression", nil, exitPass},
		{"regression", regression, exitRegression},
		{"regression", errors.Join(regression, failure), exitRegression},
		{"never", regression, exitPass},
		{"never", alreadySaid(exitRegression), exitPass},
		{"never", failure, exitNoMeasure},
		{"never", errors.Join(regression, failure), exitNoMeasure},
		{"never", usage(errors.New("a threshold is for nothing")), exitUsage},
	} {
		s := &actionStep{t: newTerminal(io.Discard, io.Discard), in: &actionInputs{failOn: c.failOn}}
		if got := exitCode(s.gate(&actionFinding{err: c.err})); got != c.want {
			t.Errorf("fail-on %s, %v: exit code %d, want %d", c.failOn, c.err, got, c.want)
		}
	}
}

func TestBranchFolder(t *testing.T) {
	for _, c := range []struct{ name, shard, want string }{
		{"", "", ""},
		{"XDP / fast path", "", "xdp---fast-path"},
		{"tc", "2/8", "tc/shard-2-of-8"},
	} {
		in := actionInputs{name: c.name, shard: c.shard}
		if got := in.branchFolder(); got != c.want {
			t.Errorf("%q %q: %q, want %q", c.name, c.shard, got, c.want)
		}
	}
}

func TestInputsRefused(t *testing.T) {
	for _, env := range []map[string]string{
		{"MODE": "host", "KERNELS": "6.12"},
		{"RESULTS": "*.json", "BUILD": "make"},
		{"RESULTS": "*.json", "SHARD": "1/2"},
		{"SHARD": "../../x"},
		{"NAME": "--"},
		{"COMMENT": "sometimes"},
	} {
		_, err := readActionInputs(func(name string) string { return env[strings.TrimPrefix(name, inputPrefix)] })
		if err == nil {
			t.Errorf("%v is taken", env)
		}
	}
}

// A suite that is a pipe, which nobody will ever write to, names no thresholds.
func TestPolicyOfAPipe(t *testing.T) {
	name := filepath.Join(t.TempDir(), "ebpf-bench.yml")
	if err := syscall.Mkfifo(name, 0o644); err != nil {
		t.Fatal(err)
	}
	done := make(chan string, 1)
	go func() { done <- namedLimits(name) }()
	select {
	case got := <-done:
		if got != "" {
			t.Errorf("%q", got)
		}
	case <-time.After(10 * time.Second):
		t.Error("it waits")
	}
}

// What was measured elsewhere is judged also where the token may not see the pull
// request: it may not comment there either.
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
	if err := bench.EncodeAll(file, []*bench.Run{run}); err != nil {
		t.Fatal(err)
	}
	s := &actionStep{t: newTerminal(io.Discard, io.Discard), in: &actionInputs{results: file.Name(), baseline: "none"}, state: actionState(dir), on: on}
	if found, err := s.foundElsewhere(t.Context(), api); err != nil || found == nil {
		t.Errorf("%+v, %v", found, err)
	}
}
