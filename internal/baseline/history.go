package baseline

import (
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
	// tables are the names of benchmarks by how they are stored: most runs
	// have the same.
	tables map[string]*table
	// size is the memory that the series take, named that of the tables' names,
	// in bytes.
	size, named int
}

// table is the benchmarks of a run with, by measure, their series: nil until
// a value comes, and empty where it is not wanted.
type table struct {
	names  []string
	series map[string][][]float64
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

func (h *historian) wants(s Series) bool {
	of := h.wanted[s.Measure]
	return of[s.Benchmark] || of[""]
}

// add takes the points of run i. It takes none of them if it fails on data
// that are damaged.
func (h *historian) add(i int, points []byte) error {
	block, columns, err := splitPoints(points)
	if err != nil {
		return err
	}
	t, err := h.table(block)
	if err != nil {
		return err
	}
	var wanted []column
	var decoded []values
	for _, c := range columns {
		if h.wanted[c.measure] == nil {
			continue
		}
		v, err := decodeColumn(c.block, len(t.names))
		if err != nil {
			return fmt.Errorf("measure %q: %w", c.measure, err)
		}
		wanted, decoded = append(wanted, c), append(decoded, v)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for j, c := range wanted {
		if err := h.merge(i, t, c.measure, decoded[j]); err != nil {
			return err
		}
	}
	return nil
}

// table is the benchmarks that a block names.
func (h *historian) table(block []byte) (*table, error) {
	h.mu.Lock()
	t := h.tables[string(block)]
	h.mu.Unlock()
	if t != nil {
		return t, nil
	}
	names, err := decodeNames(block)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	t = &table{names, make(map[string][][]float64)}
	if h.named+len(block) <= maxTables {
		h.named += len(block)
		h.tables[string(block)] = t
	}
	return t, nil
}

// merge sets the values of one measure in run i.
func (h *historian) merge(i int, t *table, measure string, v values) error {
	rows := t.series[measure]
	if rows == nil {
		rows = make([][]float64, len(t.names))
		t.series[measure] = rows
	}
	for j, b := range v.benchmarks {
		if rows[b] == nil {
			row, err := h.row(Series{t.names[b], measure})
			if err != nil {
				return err
			}
			rows[b] = row
		}
		if row := rows[b]; len(row) > 0 {
			row[i] = floatAt(v.values, j)
		}
	}
	return nil
}

// row is a series, made of NaN where it is new, and empty where it is not
// wanted.
func (h *historian) row(key Series) ([]float64, error) {
	if !h.wants(key) {
		return []float64{}, nil
	}
	all := h.history.series
	row := all[key]
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
	all[key] = row
	return row, nil
}

// errHistory says that the history, not a file, is too large.
var errHistory = bench.WithHint(
	fmt.Errorf("it takes more than %d MiB", maxHistory>>20),
	"Ask for fewer runs, or fewer measures.")
