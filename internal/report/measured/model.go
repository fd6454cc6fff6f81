// Package measured reports on runs: as text for a terminal, and in the formats
// that other tools read.
package measured

import (
	"io"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/report"
	"github.com/org/ebpf-bench-action/internal/stat"
)

// Model is what every renderer shows: one suite on one or several kernels.
type Model struct {
	Tables []Table
	// Color allows escape sequences.
	Color bool
	// Explained says that the reader also sees the errors of benchmarks
	// elsewhere, so that the text need not repeat them.
	Explained bool
	// Brief names the flag that says what the columns mean, instead of saying it.
	Brief bool
}

// Table is a run with the summaries of its samples.
type Table struct {
	Run  *bench.Run
	Rows []Row
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

// New summarizes one or several runs of the same suite.
func New(runs ...*bench.Run) *Model {
	m := &Model{}
	for _, run := range runs {
		t := Table{Run: run}
		for i := range run.Results {
			t.Rows = append(t.Rows, NewRow(&run.Results[i]))
		}
		m.Tables = append(m.Tables, t)
	}
	return m
}

// kernels returns the labels of the tables.
func (m *Model) kernels() []string {
	return report.Labels(m.Tables, func(t *Table) *bench.Testbed { return &t.Run.Testbed })
}

// NewRow summarizes one result.
func NewRow(r *bench.Result) Row {
	row := Row{Result: r}
	for _, s := range r.Samples {
		row.Measures = append(row.Measures, Summary{s.Measure, stat.Summarize(s)})
	}
	return row
}

// Get returns the summary of the first of the measures that was measured; ok is
// false if none was.
func (r *Row) Get(measures ...bench.Measure) (s Summary, ok bool) {
	for _, m := range measures {
		for _, s := range r.Measures {
			if s.Name == m.Name && s.N > 0 {
				return s, true
			}
		}
	}
	return Summary{}, false
}

// Cost returns the cost of a run of the program, in the measure of the run's
// mode, net of the floor if there is one.
func (r *Row) Cost() (s Summary, ok bool) {
	return r.Get(bench.Instructions, bench.Latency, bench.InstructionsRaw, bench.LatencyRaw)
}

// Failed counts the benchmarks that were not, or not completely, measured.
func (t *Table) Failed() int {
	n := 0
	for _, r := range t.Rows {
		if r.Error != "" {
			n++
		}
	}
	return n
}

// JSON writes the whole run, including raw values, or all of several runs.
func JSON(w io.Writer, m *Model) error {
	var runs []*bench.Run
	for _, t := range m.Tables {
		runs = append(runs, t.Run)
	}
	return bench.EncodeRuns(w, runs...)
}
