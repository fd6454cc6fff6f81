package measured

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"

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
// quartiles as its bounds. It leaves out benchmarks without values. With
// several kernels, the names include the series of each, so that they stay the
// same from one point release to the next. Names that Bencher could not
// distinguish are an error.
func BMF(w io.Writer, m *Model) error {
	doc := map[string]map[string]metric{}
	slugs := map[string]string{}
	kernels := m.kernels()
	for i, t := range m.Tables {
		for _, r := range t.Rows {
			name := r.Benchmark
			if len(m.Tables) > 1 {
				name += "@" + kernels[i]
			}
			if len(name) > maxBMFName {
				return fmt.Errorf("benchmark name %.40q… has %d bytes: Bencher takes at most %d", name, len(name), maxBMFName)
			}
			slug := bench.Slug(name)
			if other, dup := slugs[slug]; dup {
				return fmt.Errorf("benchmarks %q and %q are both %q to Bencher: rename one", other, name, slug)
			}
			slugs[slug] = name
			metrics, err := metricsOf(&r)
			if err != nil {
				return fmt.Errorf("benchmark %q: %w", name, err)
			}
			if len(metrics) > 0 {
				doc[name] = metrics
			}
		}
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(doc)
}

func metricsOf(r *Row) (map[string]metric, error) {
	metrics, names := map[string]metric{}, map[string]string{}
	for _, s := range r.Measures {
		if s.N == 0 {
			continue
		}
		slug := measureSlug(s.Name)
		if other, dup := names[slug]; dup {
			return nil, fmt.Errorf("its measures %q and %q are both %q to Bencher", other, s.Name, slug)
		}
		names[slug] = s.Name
		metrics[slug] = metric{s.Center, s.Low, s.High}
	}
	return metrics, nil
}

// measureSlug returns a measure's key in Bencher: records-op for records/op.
func measureSlug(name string) string {
	words := strings.FieldsFunc(bench.Slug(name), func(r rune) bool { return r == '-' })
	return cmp.Or(strings.Join(words, "-"), "measure")
}
