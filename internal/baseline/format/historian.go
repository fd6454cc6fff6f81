package format

import (
	"bytes"
	"fmt"
	"math"
	"sync"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/bench"
)

// Historian collects the points of many runs. Add may be called concurrently.
type Historian struct {
	mu      sync.Mutex
	History *baseline.History
	// Wanted are the wanted measures, each with its benchmarks.
	Wanted map[string]map[string]bool
	// tables caches the tables of the runs so far, by their encoded line: most runs have
	// the same.
	tables map[string]*table
	// Size is the memory of the series, named that of the tables' names, in bytes.
	Size, named int
}

// NewHistorian returns a Historian for the wanted points of these runs.
func NewHistorian(runs []baseline.Meta, wanted []baseline.Series) *Historian {
	h := &Historian{
		History: &baseline.History{Runs: runs, ByName: make(map[baseline.Series][]float64)},
		Wanted:  make(map[string]map[string]bool),
		tables:  make(map[string]*table),
	}
	for _, s := range wanted {
		if h.Wanted[s.Measure] == nil {
			h.Wanted[s.Measure] = make(map[string]bool)
		}
		h.Wanted[s.Measure][s.Benchmark] = true
	}
	return h
}

// Add adds the points of run i, or none of them if they are damaged.
func (h *Historian) Add(i int, points []byte) error {
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
		wanted := h.Wanted[measure]
		if wanted == nil {
			continue
		}
		for b, benchmark := range t.Benchmarks {
			v := t.value(values, m, b)
			if math.IsNaN(v) || !wanted[benchmark] && !wanted[""] {
				continue
			}
			row, err := h.row(baseline.Series{Benchmark: benchmark, Measure: measure})
			if err != nil {
				return err
			}
			row[i] = v
		}
	}
	return nil
}

// table returns the table that a line encodes.
func (h *Historian) table(line []byte) (*table, error) {
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

// row returns a series, filled with NaN if it is new.
func (h *Historian) row(key baseline.Series) ([]float64, error) {
	row := h.History.ByName[key]
	if row != nil {
		return row, nil
	}
	const perSeries = 128 // about what the map needs
	if h.Size += 8*len(h.History.Runs) + len(key.Benchmark) + perSeries; h.Size > MaxHistory {
		return nil, ErrHistory
	}
	row = make([]float64, len(h.History.Runs))
	for i := range row {
		row[i] = math.NaN()
	}
	h.History.ByName[key] = row
	return row, nil
}

// Problem records what is wrong with a file.
func (h *Historian) Problem(p baseline.Problem) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.History.Problems = append(h.History.Problems, p)
}

// ErrHistory says that the history, not a file, is too large.
var ErrHistory = bench.WithHint(
	fmt.Errorf("it takes more than %d MiB", MaxHistory>>20),
	"ask for fewer runs, or fewer measures")
