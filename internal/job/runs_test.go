package job

import (
	"errors"
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// Each report is written together with all earlier reports, from all kernels.
func TestReportsAreWrittenAtOnce(t *testing.T) {
	began := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	var written []int
	r := &reports{runs: make([]*bench.Run, 2), write: func(runs ...*bench.Run) error {
		n := 0
		for _, run := range runs {
			n += len(run.Results)
		}
		written = append(written, n)
		return errors.New("no space left")
	}}
	report := func(kernel int, names ...string) *bench.Run {
		run := &bench.Run{Partial: true}
		for _, name := range names {
			run.Results = append(run.Results, bench.Result{Benchmark: name})
		}
		return r.add(kernel, began, run)
	}
	report(1, "a", "b")
	report(0, "a", "b")
	last := report(1, "b", "c")
	if len(written) != 3 || written[0] != 2 || written[1] != 4 || written[2] != 5 {
		t.Errorf("results written: %v, want 2, 4, 5", written)
	}
	if len(last.Results) != 3 || !last.Started.Equal(began) {
		t.Errorf("the second kernel has %d results, started %s", len(last.Results), last.Started)
	}
}

func TestWhatAGuestIsAt(t *testing.T) {
	ended := bench.Result{Benchmark: "a", Error: "failed"}
	run := func(mode bench.Mode, results ...bench.Result) *bench.Run {
		return &bench.Run{Testbed: bench.Testbed{Mode: mode}, Results: results, Loads: 3}
	}
	o := Options{Loads: 16}
	for want, run := range map[string]*bench.Run{
		"starting":                         nil,
		"benchmark 1 of 1, b":              run(bench.ModeExact, bench.Result{Benchmark: "b"}),
		"benchmark 2 of 2, b":              run(bench.ModeExact, ended, bench.Result{Benchmark: "b"}),
		"ending":                           run(bench.ModeExact, ended),
		"2 benchmarks, 3 of 16 loads done": run(bench.ModeKVM, ended, ended),
	} {
		if got := o.at(run); got != want {
			t.Errorf("it is at %q, want %q", got, want)
		}
	}
}
