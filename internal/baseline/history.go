package baseline

import (
	"bytes"
	"fmt"
	"math"
	"sync"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// History is what measures were in earlier runs.
type History struct {
	// Runs are the runs, the newest first.
	Runs []Meta
	// Problems are the files that could not be read: the values of these runs
	// are missing.
	Problems []Problem

	series map[Series][]float64
}

// Series names what is measured again in each run: one measure of one
// benchmark, or of all benchmarks where that is empty.
type Series struct{ Benchmark, Measure string }

// Series is the values of one measure of one benchmark, in the measure's
// unit: value i is of Runs[i], and NaN where that run has none. It is nil
// where no run has any, and not to be changed.
func (h *History) Series(benchmark, measure string) []float64 {
	return h.series[Series{benchmark, measure}]
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

// historian collects the points of many runs, of which several may come at
// once.
type historian struct {
	mu      sync.Mutex
	history *History
	// wanted are the measures that are asked for, each with its benchmarks.
	wanted map[string]map[string]bool
	// tables are those of the runs so far, by how they are stored: most runs have the
	// same.
	tables map[string]*table
	// size is the memory that the series take, named that of the tables' names,
	// in bytes.
	size, named int
}

func newHistorian(runs []Meta, wanted []Series) *historian {
	h := &historian{
		history: &History{Runs: runs, series: make(map[Series][]float64)},
		wanted:  make(map[string]map[string]bool),
		tables:  make(map[string]*table),
	}
	for _, s := range wanted {
		if h.wanted[s.Measure] == nil {
			h.wanted[s.Measure] = make(map[string]bool)
		}
		h.wanted[s.Measure][s.Benchmark] = true
	}
	return h
}

// add takes the points of run i, and none of them where they are damaged.
func (h *historian) add(i int, points []byte) error {
	line, values, _ := bytes.Cut(points, []byte("\n"))
	h.mu.Lock()
	defer h.mu.Unlock()
	t, err := h.table(line)
	if err != nil {
		return err
	}
	if err := t.fits(values); err != nil {
		return err
	}
	for m, measure := range t.Measures {
		wanted := h.wanted[measure]
		if wanted == nil {
			continue
		}
		for b, benchmark := range t.Benchmarks {
			v := t.value(values, m, b)
			if math.IsNaN(v) || !wanted[benchmark] && !wanted[""] {
				continue
			}
			row, err := h.row(Series{benchmark, measure})
			if err != nil {
				return err
			}
			row[i] = v
		}
	}
	return nil
}

// table is the one that a line names.
func (h *historian) table(line []byte) (*table, error) {
	if t := h.tables[string(line)]; t != nil {
		return t, nil
	}
	t, err := decodeTable(line)
	if err == nil && h.named+len(line) <= maxTables {
		h.named += len(line)
		h.tables[string(line)] = t
	}
	return t, err
}

// row is a series, made of NaN where it is new.
func (h *historian) row(key Series) ([]float64, error) {
	row := h.history.series[key]
	if row != nil {
		return row, nil
	}
	const perSeries = 128 // what the map takes, about
	if h.size += 8*len(h.history.Runs) + len(key.Benchmark) + perSeries; h.size > maxHistory {
		return nil, errHistory
	}
	row = make([]float64, len(h.history.Runs))
	for i := range row {
		row[i] = math.NaN()
	}
	h.history.series[key] = row
	return row, nil
}

// errHistory says that the history, not a file, is too large.
var errHistory = bench.WithHint(
	fmt.Errorf("it takes more than %d MiB", maxHistory>>20),
	"Ask for fewer runs, or fewer measures.")
