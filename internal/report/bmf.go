package report

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// metric is a metric of the Bencher Metric Format,
// https://bencher.dev/docs/reference/bencher-metric-format/.
type metric struct {
	Value      float64 `json:"value"`
	LowerValue float64 `json:"lower_value"`
	UpperValue float64 `json:"upper_value"`
}

// maxBMFName is the longest name that Bencher takes, in bytes.
const maxBMFName = 1024

// BMF writes the run in Bencher Metric Format: the median as value, the
// quartiles as its bounds. A benchmark without values is left out. Names that
// Bencher could not tell apart are an error.
func BMF(w io.Writer, m *Model) error {
	doc := map[string]map[string]metric{}
	slugs := map[string]string{}
	for _, r := range m.Rows {
		if len(r.Benchmark) > maxBMFName {
			return fmt.Errorf("benchmark name %.40q… has %d bytes: Bencher takes at most %d", r.Benchmark, len(r.Benchmark), maxBMFName)
		}
		slug := bench.Slug(r.Benchmark)
		if other, dup := slugs[slug]; dup {
			return fmt.Errorf("benchmarks %q and %q are both %q to Bencher: rename one", other, r.Benchmark, slug)
		}
		slugs[slug] = r.Benchmark
		metrics := map[string]metric{}
		for _, s := range r.Measures {
			if s.N > 0 {
				metrics[s.Name] = metric{s.Center, s.Low, s.High}
			}
		}
		if len(metrics) > 0 {
			doc[r.Benchmark] = metrics
		}
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(doc)
}
