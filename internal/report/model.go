// Package report renders what was measured, one file a format. Each renderer
// writes a Model to a stream and knows neither terminals nor files.
package report

import (
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/stat"
)

// Model is what every renderer shows: a run with the summaries of its samples.
type Model struct {
	Run  *bench.Run
	Rows []Row
	// Color allows escape sequences.
	Color bool
}

// Row is one benchmark.
type Row struct {
	*bench.Result
	Measures []Summary
}

// Summary is the summary of one measure.
type Summary struct {
	bench.Measure
	stat.Summary
}

// NewModel summarizes a run.
func NewModel(run *bench.Run) *Model {
	m := &Model{Run: run}
	for i := range run.Results {
		m.Rows = append(m.Rows, NewRow(&run.Results[i]))
	}
	return m
}

// NewRow summarizes one result.
func NewRow(r *bench.Result) Row {
	row := Row{Result: r}
	for _, s := range r.Samples {
		row.Measures = append(row.Measures, Summary{s.Measure, stat.Summarize(s)})
	}
	return row
}

// Get is the summary of a measure; ok tells whether it was measured.
func (r *Row) Get(m bench.Measure) (s Summary, ok bool) {
	for _, s := range r.Measures {
		if s.Name == m.Name && s.N > 0 {
			return s, true
		}
	}
	return Summary{}, false
}

// Failed counts the benchmarks that were not, or not completely, measured.
func (m *Model) Failed() int {
	n := 0
	for _, r := range m.Rows {
		if r.Error != "" {
			n++
		}
	}
	return n
}
