package scaffold

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/programs/sections"
	"github.com/org/ebpf-bench-action/runner"
)

// If a benchmark takes a machine down, the benchmarks after it are not to
// blame.
func TestFailedIn(t *testing.T) {
	ran := bench.Result{Benchmark: "ran", Samples: []bench.Sample{{Measure: bench.VerifiedInsns, Values: []float64{1}}}}
	run := func(results ...bench.Result) *bench.Run {
		return &bench.Run{Testbed: bench.Testbed{Kernel: "6.12"}, Results: append(results, ran)}
	}
	broke := errors.New("the machine failed")
	for _, c := range []struct {
		name string
		runs []*bench.Run
		err  error
		want []string
	}{
		{"all ran", []*bench.Run{run()}, nil, nil},
		{"one failed on one of two kernels", []*bench.Run{run(), run(bench.Result{Benchmark: "a", Error: "no"})}, nil, []string{"a"}},
		{"one took another along", []*bench.Run{run(bench.Result{Benchmark: "a", Error: "no"}, bench.Result{Benchmark: "b"})}, broke, []string{"a"}},
		{"nobody is to blame", []*bench.Run{run(bench.Result{Benchmark: "a"}, bench.Result{Benchmark: "b"})}, broke, []string{"a", "b"}},
	} {
		if got := slices.Sorted(maps.Keys(failedIn(c.runs, c.err))); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// A hook that fails here may work on another kernel. A program that cannot be
// driven is tried without, and one that does not even load is left out. If
// nothing is left, the error has each reason.
func TestLeaveOut(t *testing.T) {
	s := &Suite{Programs: []Program{{Entry: runner.Entry{Benchmark: "a", Program: "a", Driver: "command"}}}}
	leaveOut(s, map[string]string{"a": "no hook"})
	if p := s.Programs[0]; p.Unhooked != "no hook" || p.Undriven != "" || p.Refused != "" {
		t.Errorf("%+v", p)
	}
	leaveOut(s, map[string]string{"a": "not one run"})
	if p := s.Programs[0]; p.Drives() != "verify" || p.Undriven != "no hook" || p.Refused != "" {
		t.Errorf("%+v", p)
	}
	leaveOut(s, map[string]string{"a": "refused"})
	if p := s.Programs[0]; p.Refused != "refused" || len(s.Benchmarks()) != 0 {
		t.Errorf("%+v", p)
	}
	all := exit.Each(s.Nothing(true))
	if len(all) != 2 || all[0].Error() != "a: refused" || bench.Hint(all[1]) == "" {
		t.Errorf("%q", all)
	}
}

// A program that no suite can name does not exclude the others.
func TestUnprintableProgram(t *testing.T) {
	object := bytes.ReplaceAll(sections.Object(), []byte("on_raw_tracepoint_w\x00"), []byte("on_raw_trac\x1bpoint_w\x00"))
	t.Chdir(t.TempDir())
	if err := os.WriteFile("a.o", object, 0o600); err != nil {
		t.Fatal(err)
	}
	found := &Objects{objects: []suite.Object{suite.NewObject("a.o", object)}}
	s, err := found.Suite()
	if err != nil {
		t.Fatal(err)
	}
	all := len(s.Benchmarks())
	if err := (&Trial{File: "-"}).Plan(s); err != nil {
		t.Fatal(err)
	}
	for _, p := range s.Programs {
		if bad := strings.Contains(p.Program, "\x1b"); bad != strings.Contains(p.Refused, "cannot be printed") {
			t.Errorf("%q: %q", p.Program, p.Refused)
		}
	}
	if n := len(s.Benchmarks()); n != all-1 {
		t.Errorf("%d of %d benchmarks", n, all)
	}
}
