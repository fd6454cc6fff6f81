package measured

import (
	"maps"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/report"
	"github.com/org/ebpf-bench-action/internal/report/grid"
)

// returned says which benchmarks returned what, if that is known.
func returned(m *Model) string {
	benchmarks := map[string][]string{}
	for _, t := range m.Tables {
		for i := range t.Rows {
			r := &t.Rows[i]
			what := report.Returned(r.Result)
			if bench.HasRetvalNames(r.Type) && what != "" && !slices.Contains(benchmarks[what], r.Benchmark) {
				benchmarks[what] = append(benchmarks[what], r.Benchmark)
			}
		}
	}
	var b strings.Builder
	for _, what := range slices.Sorted(maps.Keys(benchmarks)) {
		line := "returned " + what + ": " + grid.List(benchmarks[what], grid.Name).Text(false)
		b.WriteString(grid.Wrap(line, grid.MaxWidth, 0, 4) + "\n")
	}
	if b.Len() > 0 {
		b.WriteString("\n")
	}
	return b.String()
}
