package explain

import (
	"fmt"
	"math"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/report"
	"github.com/org/ebpf-bench-action/internal/report/grid"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// head says what was counted, where and on which sides.
func head(m *Model) *report.Heads {
	h := new(report.Heads)
	kernels := m.kernels()
	for i, t := range m.Tables {
		var lines []string
		if t.Base != nil {
			lines = append(lines, "base "+report.SideName(t.Base)+" → head "+report.SideName(&t.Head))
		}
		what := unit.Plural(len(t.Programs), "benchmark") + " · BPF instructions counted, the mean of a run"
		n := 0
		for i := range t.Programs {
			if t.Programs[i].Error != "" {
				n++
			}
		}
		if n > 0 {
			what += " · " + grid.Paint(m.Color, grid.Red, fmt.Sprintf("%d failed", n))
		}
		if t.Partial {
			what += " · " + grid.Paint(m.Color, grid.Yellow, "partial: "+report.WhyPartial("count", nil, nil))
		}
		h.Add(&t.Testbed, kernels[i], append(lines, what)...)
	}
	return h
}

// title names a benchmark, its program and what a run of it executes.
func title(m *Model, p *program) string {
	name := escape.Printable(p.Benchmark)
	if where := p.where(m); where != "" {
		name += " on " + escape.Printable(where)
	}
	lines := []string{grid.Paint(m.Color, grid.Bold, sideSign(m, p)+name)}
	if what := what(p); what != "" {
		lines = append(lines, grid.Wrap(escape.Printable(what), m.columns(), 0, 2))
	}
	if total := totalLine(p); total != "" {
		lines = append(lines, grid.Wrap(total, m.columns(), 0, 2))
	}
	return strings.Join(lines, "\n")
}

// what says what is explained: fun.o:prog, or both sides if they differ, and
// the driver.
func what(p *program) string {
	s := p.side()
	if s == nil {
		return ""
	}
	of := func(s *bench.ExplainedSide) string { return s.Object + ":" + s.Program }
	what := of(s)
	switch {
	case p.two() && p.Base.Object == s.Object && p.Base.Program != s.Program:
		what = of(p.Base) + " → " + s.Program
	case p.two() && of(p.Base) != what:
		what = of(p.Base) + " → " + what
	case p.Head == nil:
		what += ", which only the base has"
	case p.onlyHead:
		what += ", which only the head has"
	}
	if p.Driver != "" {
		what += " · " + p.Driver
	}
	return what
}

// totalLine says what a run executes in total.
func totalLine(p *program) string {
	s := p.side()
	if s == nil {
		return ""
	}
	counted := runs(s.Runs)
	if p.two() && p.Base.Runs != p.Head.Runs {
		counted = unit.Exact(float64(p.Base.Runs)) + " and " + counted
	}
	what, changed := total(s), ""
	switch {
	case !p.two():
	case unit.Tidy(p.Head.PerRun-p.Base.PerRun) == 0 && p.Base.Spread == nil && p.Head.Spread == nil:
		changed = ", unchanged"
	default:
		what, changed = total(p.Base)+" → "+what, " ("+change(p)+")"
	}
	noun := " BPF instructions a run"
	if what == "1" {
		noun = " BPF instruction a run"
	}
	return what + noun + changed + ", in " + counted
}

// total returns what a side executes, with the range of its runs.
func total(s *bench.ExplainedSide) string {
	if s.Spread == nil {
		return unit.Mean(s.PerRun)
	}
	return fmt.Sprintf("~%s (%s to %s)", unit.Mean(s.PerRun), unit.Mean(s.Spread.Least), unit.Mean(s.Spread.Most))
}

// sideSign marks a benchmark that only one of two sides has.
func sideSign(m *Model, p *program) string {
	switch {
	case !p.onlyHead && !p.onlyBase:
		return ""
	case p.onlyHead:
		return "+ "
	}
	return "- "
}

// change returns the change of the total, with its percentage, or ~ if runs of
// one side differ as much.
func change(p *program) string {
	d := p.Head.PerRun - p.Base.PerRun
	switch {
	case p.chance():
		return "~"
	case unit.Tidy(d) == 0:
		return "="
	case p.Base.PerRun == 0:
		return report.MoreInsns(d)
	}
	return report.MoreInsns(d) + ", " + unit.Change(d/p.Base.PerRun)
}

func runs(n uint64) string {
	if n == 1 {
		return "1 run"
	}
	return unit.Exact(float64(n)) + " runs"
}

// share returns the share of a line in everything that runs of its side execute.
func (p *program) share(l *bench.Line) float64 {
	return p.shareOf(report.PerRun(p.of(l)), l.Later)
}

// shareOf returns the share of instructions in those of a run, which has none of
// those that something executes later.
func (p *program) shareOf(insns float64, later string) float64 {
	if later != "" {
		return math.NaN()
	}
	return share(insns, p.side().PerRun)
}

// chance reports whether the sides differ by no more than runs of one of them do.
func (p *program) chance() bool {
	return p.two() && bench.Overlap(&p.Base.Executed, &p.Head.Executed)
}

// worse and better give the direction in which a benchmark or a line changed,
// if it did.
func worse(base, head *bench.Executed) bool {
	return !bench.Overlap(base, head) && unit.Tidy(report.PerRun(head)-report.PerRun(base)) > 0
}

func better(base, head *bench.Executed) bool {
	return !bench.Overlap(base, head) && unit.Tidy(report.PerRun(head)-report.PerRun(base)) < 0
}

func share(part, whole float64) float64 {
	if whole == 0 {
		return 0
	}
	return part / whole
}

// sideInsns prints what a side executes: after a ~ if passes differ, a minus if
// there is nothing.
func sideInsns(x *bench.Executed) string {
	switch {
	case x == nil:
		return grid.None
	case x.Spread != nil:
		return "~" + unit.Mean(x.PerRun)
	}
	return unit.Mean(x.PerRun)
}

// lineDelta prints how much more the head executes of a line: after a ~ if runs
// of one side differ as much.
func lineDelta(l *bench.Line) string {
	d := report.MoreInsns(l.Delta())
	if d != "=" && bench.Overlap(l.Base, l.Head) {
		return "~" + d
	}
	return d
}
