package report

import (
	"io"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// JSON writes the whole run, raw values included.
func JSON(w io.Writer, m *Model) error { return bench.Encode(w, m.Run) }
