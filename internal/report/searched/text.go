package searched

import (
	"fmt"
	"io"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/report"
	"github.com/org/ebpf-bench-action/internal/report/grid"
	"github.com/org/ebpf-bench-action/internal/stat"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// Text writes for a terminal, for each program, how much of it inputs reach and which
// inputs those are.
func Text(w io.Writer, m *Model) error {
	var b strings.Builder
	for _, line := range head(m).Lines(len(m.Tables)) {
		b.WriteString(grid.Wrap(line, m.columns(), 0, 2) + "\n")
	}
	kernels := m.kernels()
	for i, t := range m.Tables {
		for j := range t.Programs {
			p := &t.Programs[j]
			name := escape.Printable(p.Benchmark)
			if len(m.Tables) > 1 {
				name += " on " + escape.Printable(kernels[i])
			}
			fmt.Fprintf(&b, "\n%s\n%s\n", grid.Paint(m.Color, grid.Bold, name), escape.Printable(fmt.Sprintf("%s:%s, %s", p.Object, p.Program, p.Type)))
			if p.Error != "" {
				if !m.Explained {
					b.WriteString(grid.Paint(m.Color, grid.Red, "failed: ") + escape.Printable(p.Error) + "\n")
				}
				continue
			}
			for _, part := range m.parts(t, p) {
				b.WriteString(part + "\n")
			}
		}
	}
	if costs := m.costs(); len(costs) > 0 {
		b.WriteString("\n" + grid.Wrap(strings.Join(costs, "; ")+legend, min(m.columns(), grid.TextWidth), 0, 2) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// legend says what the columns mean, besides those of costs.
const legend = "; blocks: basic blocks that the input reaches; new: those of them that no input above it does; dearest line: for which a run executes most, compared with the default input"

// costs says what the columns of what a run costs mean, if there are any.
func (m *Model) costs() (all []string) {
	for _, t := range m.Tables {
		for i := range t.Programs {
			if len(t.Programs[i].Inputs) == 0 {
				continue
			}
			what := "time: net"
			if t.Testbed.Mode == bench.ModeExact {
				what = "machine: instructions of the machine, net"
			}
			all = unit.AppendNew(all, what+", of the default input and the dearest")
		}
	}
	return all
}

func head(m *Model) *report.Heads {
	h := new(report.Heads)
	for i, t := range m.Tables {
		what := unit.Plural(len(t.Programs), "program") + " searched · BPF instructions counted, the mean of a run"
		if t.Partial {
			what += " · " + grid.Paint(m.Color, grid.Yellow, "partial: "+report.WhyPartial("search", nil, nil))
		}
		h.Add(&t.Testbed, m.kernels()[i], what)
	}
	return h
}

// parts are the parts of the text about a program.
func (m *Model) parts(of *bench.Search, p *bench.Searched) (all []string) {
	say := func(text string) { all = append(all, grid.Wrap(escape.Printable(text), m.columns(), 0, 2)) }
	say(reached(p))
	say(tried(p, of.Seed))
	if len(p.Inputs) > 0 {
		all = append(all, "", m.table(of, p))
	}
	if text := bench.Places(p.Unreached); text != "" {
		all = append(all, "")
		say("not reached: " + text)
	}
	for i, w := range p.Warnings {
		if i == 0 {
			all = append(all, "")
		}
		all = append(all, grid.Paint(m.Color, grid.Yellow, "warning: ")+escape.Printable(w))
	}
	return all
}

// cost is what a run costs.
func cost(in *bench.FoundInput) grid.Cell {
	switch {
	case in.Cost == nil:
		return grid.Figure("")
	case in.Cost.Measure.Name == bench.Instructions.Name:
		return grid.Figure(unit.Mean(stat.Summarize(*in.Cost).Center))
	}
	return grid.Figure(unit.NS(stat.Summarize(*in.Cost).Center))
}

// table has a row for each input.
func (m *Model) table(of *bench.Search, p *bench.Searched) string {
	costs := "time"
	if of.Testbed.Mode == bench.ModeExact {
		costs = "machine"
	}
	t := new(grid.Grid).Left("input").Right("insns", "change", costs, "blocks", "new").Left("returns", "dearest line").Rest("gives")
	base := 0.0
	for i := range p.Inputs {
		in := &p.Inputs[i]
		if in.Name == bench.InputDefault {
			base = in.PerRun
		}
		change := grid.Figure("")
		if base > 0 && in.Name != bench.InputDefault {
			change = grid.Figure(unit.Change(in.PerRun/base - 1))
		}
		insns := grid.Figure(unit.Mean(in.PerRun))
		if in.Name == bench.InputWorst {
			insns = insns.Paint(grid.Red)
		}
		t.Row(grid.Word(in.Name), insns, change, cost(in), grid.Figure(fmt.Sprint(in.Reached)), grid.Figure(fmt.Sprint(in.New)),
			grid.Word(unit.Few(p.Returned(in))), grid.Word(in.Dearest.Place()), grid.Word(given(in)))
	}
	return t.Filled(2).Text(m.Columns, m.Color)
}
