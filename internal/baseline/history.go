package baseline

import (
	"math"
)

// History is the values of measures in earlier runs.
type History struct {
	// Runs are the runs, the newest first.
	Runs []Meta
	// Problems are the files that could not be read. The values of these runs are missing.
	Problems []Problem

	ByName map[Series][]float64
}

// Series names a value that each run measures again: one measure of one benchmark, or of
// all benchmarks if Benchmark is empty.
type Series struct{ Benchmark, Measure string }

// Series returns the values of one measure of one benchmark, in the measure's unit. Value
// i is from Runs[i], and NaN if that run has none. The result is nil if no run has a
// value, and must not be modified.
func (h *History) Series(benchmark, measure string) []float64 {
	return h.ByName[Series{benchmark, measure}]
}

// Values returns Series without the runs that have no value.
func (h *History) Values(benchmark, measure string) []float64 {
	var values []float64
	for _, v := range h.Series(benchmark, measure) {
		if !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	return values
}
