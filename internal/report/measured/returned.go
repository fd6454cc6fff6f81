package measured

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/report/grid"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// The return value of a program shows whether it took the intended path: a
// program that aborts at once is cheap.

// maxReturned is how many different values of a benchmark are listed.
const maxReturned = 3

// returned says which benchmarks returned what, if that is known.
func returned(m *Model) string {
	benchmarks := map[string][]string{}
	for _, t := range m.Tables {
		for i := range t.Rows {
			r := &t.Rows[i]
			what := verdictsOf(r.Result)
			if what != "" && !slices.Contains(benchmarks[what], r.Benchmark) {
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

// verdictsOf returns text such as "75% XDP_PASS, 25% XDP_DROP", the most
// frequent first, or "" if the values are unknown or too many.
func verdictsOf(r *bench.Result) string {
	if !bench.HasRetvalNames(r.Type) || len(r.Retvals) > maxReturned {
		return ""
	}
	values := slices.SortedFunc(maps.Keys(r.Retvals), func(a, b uint32) int {
		return cmp.Or(cmp.Compare(r.Retvals[b], r.Retvals[a]), cmp.Compare(a, b))
	})
	var calls uint64
	for _, n := range r.Retvals {
		calls += n
	}
	var parts []string
	for _, v := range values {
		name := bench.RetvalName(r.Type, v)
		if len(values) > 1 {
			name = unit.Share(float64(r.Retvals[v])/float64(calls)) + " " + name
		}
		parts = append(parts, name)
	}
	return strings.Join(parts, ", ")
}
