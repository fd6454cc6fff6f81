package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/testenv"
)

const stormSuite = `version: 1
objects: [ROOT/programs/fun_xdp/fun_xdp_bpfel.o, ROOT/programs/perf_profiler/perf_profiler_bpfel.o, ROOT/runner/testdata/hooks.o]
benchmarks:
  - {name: called, program: fun_xdp_basic, test_run: {}}
  - {name: prepared, program: fun_xdp_fizz, test_run: {}, prepare: [{program: fun_xdp_basic, runs: 2000}]}
  - {name: sent, program: fun_xdp_fizz, veth: {}}
  - {name: sampled, program: profile, perf_event: {}}
  - {name: started, program: tracepoint_exec, command: {run: ['true']}}
`

// Up to a thousand signals per second, which interrupt the kernel's work for the tool, change
// none of its results: for programs that are called, attached, sent packets or started.
func TestAStormOfSignalsChangesNoResult(t *testing.T) {
	testenv.Root(t)
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "suite.yml")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(stormSuite, "ROOT", root)), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := tool("run", "--budget", "500ms", "--loads", "3", "--format", "json", file)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	sent := 0
	for storm := time.NewTicker(time.Millisecond); ; sent++ {
		select {
		case err = <-ended:
		case <-storm.C:
			kinds := []syscall.Signal{syscall.SIGURG, syscall.SIGWINCH, syscall.SIGCHLD, syscall.SIGCONT}
			err = cmd.Process.Signal(kinds[sent%len(kinds)])
			if err == nil || errors.Is(err, os.ErrProcessDone) {
				continue
			}
		}
		storm.Stop()
		break
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	run, err := bench.DecodeRun(&stdout)
	if err != nil {
		t.Fatal(err)
	}
	if run.Partial || len(run.Results) != 5 {
		t.Errorf("partial %v, %d results", run.Partial, len(run.Results))
	}
	for _, r := range run.Results {
		if r.Error != "" || r.Rounds.Runs() == 0 {
			t.Errorf("%s: error %q, %d runs", r.Benchmark, r.Error, r.Rounds.Runs())
		}
		if r.Traffic != nil && r.Traffic.Unaccounted != 0 {
			t.Errorf("%s: %d packets are unaccounted for", r.Benchmark, r.Traffic.Unaccounted)
		}
	}
	if sent < 100 {
		t.Errorf("%d signals are not a storm", sent)
	}
}
