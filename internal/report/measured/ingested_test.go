package measured

import (
	"io"
	"testing"

	"github.com/org/ebpf-bench-action/internal/report/reporttest"
)

// Results of another tool have no mention of a floor, no empty columns, and all
// of their units.
func TestTextIngested(t *testing.T) {
	run := reporttest.IngestedRun(0)
	reporttest.Golden(t, "run_ingested.txt.golden", func(w io.Writer) error { return Text(w, New(run)) })
	run.Results = append(run.Results, result("xdp/basic", "test_run", 60, 43))
	reporttest.Golden(t, "run_ingested_beside.txt.golden", func(w io.Writer) error { return Text(w, New(run)) })
}
