package baseline

import (
	"math"
)

// History is what measures were in earlier runs.
type History struct {
	// Runs are the runs, the newest first.
	Runs []Meta
	// Problems are the files that could not be read: the values of these runs
	// are missing.
	Problems []Problem

	ByName map[Series][]float64
}

// Series names what is measured again in each run: one measure of one
// benchmark, or of all benchmarks where that is empty.
type Series struct{ Benchmark, Measure string }

// Series is the values of one measure of one benchmark, in the measure's
// unit: value i is of Runs[i], and NaN where that run has none. It is nil
// where no run has any, and not to be changed.
func (h *History) Series(benchmark, measure string) []float64 {
	return h.ByName[Series{benchmark, measure}]
}

// Values is Series without the runs that have none.
func (h *History) Values(benchmark, measure string) []float64 {
	var values []float64
	for _, v := range h.Series(benchmark, measure) {
		if !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	return values
}
