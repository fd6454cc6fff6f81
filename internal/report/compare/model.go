// Package compare reports on a judged comparison of base and head: as text,
// Markdown, JSON and a spreadsheet.
package compare

import (
	"slices"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/report"
	"github.com/org/ebpf-bench-action/thresholds"
)

// Model is what the renderers of a judged comparison show: base and head of one
// suite on one or several kernels.
type Model struct {
	Tables []Table
	// Color allows escape sequences.
	Color bool
	// Columns is the width of the text; 0 means any width.
	Columns int
	// Explained says that the reader also sees the errors of benchmarks
	// elsewhere, so that the text need not repeat them.
	Explained bool
	// Brief names the flag that says what the columns mean, instead of saying it.
	Brief bool
	// Verbose also shows everything that passed in full.
	Verbose bool
	// Link returns the URL of a line of the head's source, or "" if it has none. It may
	// be nil.
	Link func(file string, line int) string
	// Reproduce are the commands that compare the same again, or "" if these are unknown.
	Reproduce string
}

// Table holds the measurements on one kernel, and the verdicts on them.
type Table struct {
	*bench.Comparison
	Verdicts *thresholds.Verdicts
}

// New returns a Model with one table per kernel.
func New(tables ...Table) *Model { return &Model{Tables: tables} }

// Overall returns the worst outcome of all tables: see
// thresholds.Verdicts.Overall. Without tables, nothing was judged.
func (m *Model) Overall() thresholds.Outcome {
	found := map[thresholds.Outcome]bool{thresholds.Failed: len(m.Tables) == 0}
	for _, t := range m.Tables {
		found[t.Verdicts.Overall()] = true
	}
	for _, o := range []thresholds.Outcome{thresholds.Regression, thresholds.OverBudget, thresholds.Removed, thresholds.Failed, thresholds.Inconclusive} {
		if found[o] {
			return o
		}
	}
	return thresholds.Pass
}

// Doubt says why the sides of some benchmarks cannot be compared, in words of this package,
// or returns "".
func (m *Model) Doubt() string {
	_, _, why := unjudgeable(m.rows())
	return why
}

// row is one benchmark with its verdicts.
type row struct {
	*bench.Pair
	// kernel is the label of its table.
	kernel string
	// main is the verdict on the cost of a run, or on the benchmark as a whole.
	// It is nil if no threshold applies to that.
	main *thresholds.Verdict
	// others are the verdicts on its other measures.
	others []*thresholds.Verdict
}

// rows returns the benchmarks of a table, in its order.
func (t *Table) rows() []row {
	verdicts := map[string][]*thresholds.Verdict{}
	for i := range t.Verdicts.All {
		v := &t.Verdicts.All[i]
		verdicts[v.Benchmark] = append(verdicts[v.Benchmark], v)
	}
	var rows []row
	for i := range t.Pairs {
		r := row{Pair: &t.Pairs[i]}
		all := verdicts[r.Benchmark]
		r.main = mainVerdict(all)
		for _, v := range all {
			if v != r.main {
				r.others = append(r.others, v)
			}
		}
		r.others = append(r.others, unjudgedOf(r.Pair, all)...)
		rows = append(rows, r)
	}
	return rows
}

// unjudgedOf returns the custom measures of another tool to which no threshold
// applies, as verdicts without an outcome.
func unjudgedOf(p *bench.Pair, judged []*thresholds.Verdict) []*thresholds.Verdict {
	var all []*thresholds.Verdict
	if p.Base == nil || p.Head == nil {
		return nil
	}
	for _, s := range p.Head.Samples {
		has := func(v *thresholds.Verdict) bool { return v.Measure.Name == s.Measure.Name }
		if bench.IsCustom(s.Measure.Name) && p.Base.Sample(s.Measure.Name) != nil && !slices.ContainsFunc(judged, has) {
			all = append(all, &thresholds.Verdict{Benchmark: p.Benchmark, Measure: s.Measure})
		}
	}
	return all
}

// ingested reports whether another tool measured the benchmark.
func (r *row) ingested() bool { return bench.IsIngested(r.driver()) }

// costs are the measures of the cost of a run, the best one first. Only one of
// them is the main measure of a benchmark.
var costs = []bench.Measure{bench.Instructions, bench.Latency, bench.InstructionsRaw, bench.LatencyRaw}

func mainVerdict(all []*thresholds.Verdict) *thresholds.Verdict {
	// A verdict on the benchmark as a whole has the zero Measure.
	for _, m := range append([]bench.Measure{{}}, costs...) {
		for _, v := range all {
			if v.Measure.Name == m.Name {
				return v
			}
		}
	}
	return nil
}

// rows returns the benchmarks of all tables.
func (m *Model) rows() []row {
	var all []row
	kernels := m.kernels()
	for i := range m.Tables {
		rows := m.Tables[i].rows()
		for j := range rows {
			rows[j].kernel = kernels[i]
		}
		all = append(all, rows...)
	}
	return all
}

// driver returns the head's driver, or the base's if the head lacks the
// benchmark.
func (r *row) driver() string {
	switch {
	case r.Head != nil:
		return r.Head.Driver
	case r.Base != nil:
		return r.Base.Driver
	}
	return ""
}

// named returns the name of a benchmark with the kernels that something applies
// to, if there are several.
func (m *Model) named(benchmark string, on []string) string {
	if len(m.Tables) == 1 {
		return benchmark
	}
	return benchmark + " on " + report.OnKernels(on, len(m.Tables))
}

// kernels returns the labels of the tables.
func (m *Model) kernels() []string {
	return report.Labels(m.Tables, func(t *Table) *bench.Testbed { return &t.Testbed })
}

// HeadRuns returns only the heads, as runs: Bencher keeps the history itself,
// and benchstat compares files.
func (m *Model) HeadRuns() []*bench.Run {
	var runs []*bench.Run
	for _, t := range m.Tables {
		// The head may lack a kernel that the base has.
		if run := t.HeadRun(); len(run.Results) > 0 {
			runs = append(runs, run)
		}
	}
	return runs
}
