package main

import (
	"errors"
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// Each report is written with all reports before, of all kernels.
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
