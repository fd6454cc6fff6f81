package measured

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/report"
	"github.com/org/ebpf-bench-action/internal/report/grid"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// Text writes the model for a terminal: one run with all its figures, or
// several kernels side by side with the cost of a run on each.
func Text(w io.Writer, m *Model) error {
	var b strings.Builder
	var h report.Heads
	kernels := m.kernels()
	for i := range m.Tables {
		h.Add(&m.Tables[i].Run.Testbed, kernels[i], runLine(m, &m.Tables[i]))
	}
	for _, line := range h.Wrapped(len(m.Tables)) {
		b.WriteString(line + "\n")
	}
	b.WriteString("\n" + table(m).Text(0, m.Color) + "\n\n")
	if measured(m) {
		about := legend(m)
		if m.Brief {
			about = report.ExplainColumns
		}
		b.WriteString(grid.Wrap(about, grid.TextWidth, 0, 0) + "\n\n")
	}
	b.WriteString(returned(m))
	for _, r := range m.matrix() {
		b.WriteString(notesOn(m, &r, kernels))
	}
	_, err := io.WriteString(w, strings.TrimRight(b.String(), "\n")+"\n")
	return err
}

func measured(m *Model) bool {
	cost := func(r Row) bool { _, ok := r.Cost(); return ok }
	return slices.ContainsFunc(m.Tables, func(t Table) bool { return slices.ContainsFunc(t.Rows, cost) })
}

func runLine(m *Model, t *Table) string {
	parts := []string{unit.Plural(len(t.Rows), "benchmark"), unit.Plural(t.Run.Loads, "load"),
		fmt.Sprintf("%.1f s", t.Run.Elapsed), fmt.Sprintf("seed %d", t.Run.Seed)}
	if t.Run.Loads == 0 && ingested(t) {
		parts = []string{unit.Plural(len(t.Rows), "benchmark"), "measured by " + t.Rows[0].Driver}
	}
	if exact(t) {
		parts = []string{unit.Plural(len(t.Rows), "benchmark"), "exact: instructions counted, not timed"}
	}
	if t.Run.Shard != nil {
		parts = slices.Insert(parts, 1, "shard "+t.Run.Shard.String())
	}
	if n := t.Failed(); n > 0 {
		parts = append(parts, grid.Paint(m.Color, grid.Red, fmt.Sprintf("%d failed", n)))
	}
	if t.Run.Partial {
		parts = append(parts, grid.Paint(m.Color, grid.Yellow, "partial: "+report.WhyPartial("run", t.Run.Missing, nil)))
	}
	return strings.Join(parts, " · ")
}

// ingested reports whether another tool measured all benchmarks of a table.
func ingested(t *Table) bool {
	return len(t.Rows) > 0 && !slices.ContainsFunc(t.Rows, func(r Row) bool { return !r.Ingested() })
}

func exact(t *Table) bool { return t.Run.Testbed.Mode == bench.ModeExact }

// legend explains the figures of the table.
func legend(m *Model) string {
	const floor = "raw less the floor, which is what the kernel charges an empty program of the same type in the same rounds"
	insns := ""
	if len(m.Tables) == 1 && has(m.Tables[0].Rows, bench.BPFInsns) {
		insns = "; bpf-insns is how many BPF instructions a run executes"
	}
	switch {
	case len(m.Tables) > 1 && !slices.ContainsFunc(m.Tables, func(t Table) bool { return !exact(&t) }):
		return "each figure is how many machine instructions a run of the program executes: " + floor + "."
	case len(m.Tables) > 1:
		return "each figure is what the program costs a run: " + floor + "."
	case len(m.Tables) == 1 && exact(&m.Tables[0]):
		text := "net is how many machine instructions a run executes: " + floor
		if has(m.Tables[0].Rows, bench.InstructionsPath) {
			text += "; path is how many more an event takes with the program attached than without it, hook included, less what its verdict spares the kernel, - where that cannot be counted"
		}
		return text + insns + "."
	}
	if len(m.Tables) == 1 && ingested(&m.Tables[0]) {
		return "net is what an operation takes, and ± half the interquartile range of the measurements."
	}
	text := "net is what the program costs a run: " + floor + negative(&m.Tables[0]) + "; ± is half the interquartile range of the rounds"
	if has(m.Tables[0].Rows, bench.Throughput) {
		text += ", rate the runs per second of driving the program, the harness included"
	}
	if slices.ContainsFunc(m.Tables[0].Rows, func(r Row) bool { return r.Ingested() }) {
		text += "; where go or criterion measured, net is what an operation takes"
	}
	return text + insns + hardware(&m.Tables[0]) + "."
}

// negative explains a cost below zero, if there is one.
func negative(t *Table) string {
	if slices.ContainsFunc(t.Rows, func(r Row) bool {
		s, ok := r.Get(bench.Latency)
		return ok && strings.HasPrefix(unit.NS(s.Center), "-")
	}) {
		return "; below 0, the program cannot be distinguished from an empty one"
	}
	return ""
}

// hardware says that there are no hardware counters where they would be read.
func hardware(t *Table) string {
	if len(t.Run.Testbed.HardwareCounters) > 0 {
		return ""
	}
	return "; this machine has no hardware counters"
}

// hardwareEvents returns the CPU's counts for a benchmark, or "" if there are
// none.
func hardwareEvents(r *Row) string {
	var parts []string
	for _, m := range bench.MeasuresOf(bench.Hardware) {
		if s, ok := r.Get(m); ok {
			parts = append(parts, unit.Count(s.Center)+" "+strings.ReplaceAll(m.Name, "-", " "))
		}
	}
	if parts == nil {
		return ""
	}
	return strings.Join(parts, ", ") + " a run"
}

// verifierFigures returns the kernel's figures for a program that was only
// loaded. It returns "" for others, whose cost is of more interest.
func verifierFigures(r *Row) string {
	if r.Driver != bench.DriverVerify {
		return ""
	}
	var parts []string
	for _, m := range bench.MeasuresOf(bench.Static) {
		if s, ok := r.Get(m); ok {
			what := strings.ReplaceAll(strings.TrimSuffix(m.Name, "-bytes"), "-", " ")
			if m.Unit == "bytes" {
				parts = append(parts, what+" "+unit.Exactly(s.Center, m.Unit))
			} else {
				parts = append(parts, unit.Exact(s.Center)+" "+what)
			}
		}
	}
	return strings.Join(parts, ", ")
}

// notesOn returns the notes on a benchmark, each once with all kernels that it
// applies to.
func notesOn(m *Model, across *report.Across[Row], kernels []string) string {
	var counted, noted report.Sentences
	for i, r := range across.On {
		if r != nil {
			for _, fact := range facts(r) {
				counted.Add(fact, kernels[i])
			}
			for _, note := range notes(m, r) {
				noted.Add(note, kernels[i])
			}
		}
	}
	where := func(n *report.Said) string {
		if len(m.Tables) == 1 {
			return escape.Printable(across.Benchmark)
		}
		return escape.Printable(across.Benchmark + " on " + report.OnKernels(n.Kernels, len(m.Tables)))
	}
	var b strings.Builder
	for _, n := range counted {
		b.WriteString(grid.Wrap(where(n)+": "+n.Text, grid.MaxWidth, 0, 4) + "\n")
	}
	// People search for these, so each stays on its line.
	for _, n := range noted {
		b.WriteString(where(n) + ": " + n.Text + "\n")
	}
	return b.String()
}

// facts returns further counts.
func facts(r *Row) []string {
	var all []string
	for i := range r.Replaced {
		if r.Error == "" { // else the replacement may be what failed
			all = append(all, replaced(r, &r.Replaced[i]))
		}
	}
	if r.Traffic != nil {
		all = append(all, traffic(r.Traffic))
	}
	all = append(all, verifierFigures(r), hardwareEvents(r))
	for i := range r.Maps {
		all = append(all, mapFill(&r.Maps[i]))
	}
	if r.CPUs > 1 {
		all = append(all, inParallel(r))
	}
	if len(r.Kinds) > 0 {
		all = append(all, kinds(r))
	}
	for _, l := range r.Later {
		if l.BPFInsns != nil {
			all = append(all, escape.Printable(fmt.Sprintf("%s executes %s BPF instructions when a %s calls it, after the run", l.Function, unit.Mean(*l.BPFInsns), l.By)))
		}
	}
	if first, ok := r.Get(bench.BPFInsnsFirst); ok {
		text := fmt.Sprintf("the first run, which finds maps as they were prepared, executes %s BPF instructions", unit.Mean(first.Center))
		if later, ok := r.Get(bench.BPFInsns); ok {
			text += fmt.Sprintf(", later ones %s", unit.Mean(later.Center))
		}
		all = append(all, text)
	}
	if aged, ok := r.Get(bench.BPFInsnsAged); ok {
		all = append(all, fmt.Sprintf("a run after very many others executes %s BPF instructions", unit.Mean(aged.Center)))
	}
	all = append(all, report.FreshRuns(r.Result))
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}

// notes returns what does not fit into a table cell.
func notes(m *Model, r *Row) []string {
	var all []string
	warning := grid.Paint(m.Color, grid.Yellow, "warning: ")
	for _, w := range r.Warnings {
		all = append(all, warning+escape.Printable(w))
	}
	if s, ok := r.Cost(); ok {
		// The warnings of other measures say the same about the same rounds.
		for _, w := range s.Warnings {
			all = append(all, warning+escape.Printable(w))
		}
	}
	if !m.Explained {
		all = append(all, budgetNotes(m, r)...)
	}
	if r.Error != "" && !m.Explained {
		all = append(all, grid.Paint(m.Color, grid.Red, "failed: ")+escape.Printable(r.Error))
	}
	return all
}

// kinds says what runs of the same input have executed.
func kinds(r *Row) string {
	var runs uint64
	for _, k := range r.Kinds {
		runs += k.Runs
	}
	var parts []string
	for _, k := range r.Kinds {
		parts = append(parts, fmt.Sprintf("%s %s (%s of runs)", bench.RetvalName(r.Type, k.Retval), unit.Exact(float64(k.BPFInsns)), unit.Share(float64(k.Runs)/float64(runs))))
	}
	return "BPF instructions by return value: " + strings.Join(parts, ", ")
}

// replaced says which function another program replaced.
func replaced(r *Row, by *bench.Replaced) string {
	text := fmt.Sprintf("function %s is replaced by program %s", by.Function, by.Program)
	if by.Object != r.Object {
		text += " of " + by.Object
	}
	return escape.Printable(text)
}

// traffic accounts for the packets of an attached program.
func traffic(t *bench.Traffic) string {
	return fmt.Sprintf("%s packets sent by %s, %s run, %d lost before the program, %d unaccounted",
		unit.Count(float64(t.Sent)), senderName(t.Sender), unit.Count(float64(t.Run)), t.Dropped, t.Unaccounted)
}

// mapFill says how full a map was.
func mapFill(m *bench.MapFill) string {
	now := unit.Exact(float64(m.Entries))
	if m.After != m.Entries {
		now += ", later " + unit.Exact(float64(m.After)) + ","
	}
	return escape.Printable(fmt.Sprintf("map %s held %s of %s entries", m.Name, now, unit.Exact(float64(m.Max))))
}

func senderName(s string) string {
	if s == "af_packet" {
		return "AF_PACKET"
	}
	return strings.ReplaceAll(s, "_", " ")
}

// inParallel says how many CPUs ran a program at once, and what that cost.
func inParallel(r *Row) string {
	text := fmt.Sprintf("run on %d CPUs at once", r.CPUs)
	if s, ok := r.Get(bench.Contention); ok {
		than := "more"
		if s.Center < 0 {
			than = "less"
		}
		text += fmt.Sprintf(": a run costs %s %s than on one CPU alone", unit.NS(math.Abs(s.Center)), than)
	}
	return text
}
