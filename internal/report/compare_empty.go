package report

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/thresholds"
)

// EmptyCompareJSON writes a comparison that was to have no pairs, as CompareJSON
// does others: that nothing was compared is no failure of it.
func EmptyCompareJSON(w io.Writer, c *bench.Comparison) error {
	var measured bytes.Buffer
	if err := bench.EncodeComparison(&measured, c); err != nil {
		return err
	}
	return json.NewEncoder(w).Encode(&comparisonJSON{
		Version: bench.JudgedVersion, Outcome: thresholds.Pass,
		Tables: []tableJSON{{Outcome: thresholds.Pass, Comparison: measured.Bytes(), Verdicts: []verdictJSON{}}},
	})
}
