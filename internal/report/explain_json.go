package report

import (
	"io"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// ExplainJSON writes everything that was counted, as bench.DecodeExplanation
// reads it.
func ExplainJSON(w io.Writer, m *Explanation) error { return bench.EncodeExplanations(w, m.Tables) }
