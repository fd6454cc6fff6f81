package report

import (
	"io"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// JSON writes the whole run, raw values included, or all of several runs.
func JSON(w io.Writer, m *Model) error {
	var runs []*bench.Run
	for _, t := range m.Tables {
		runs = append(runs, t.Run)
	}
	return bench.EncodeAll(w, runs)
}
