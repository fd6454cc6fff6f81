package explain

import (
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/report"
	"github.com/org/ebpf-bench-action/internal/report/grid"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// share is the share of a line in all that its side executes.
func (p *program) share(l *bench.Line) float64 {
	return share(report.PerRun(p.of(l)), p.side().PerRun)
}

// chance tells whether the sides differ by no more than runs of one of them do.
func (p *program) chance() bool {
	return p.two() && bench.Overlap(&p.Base.Executed, &p.Head.Executed)
}

// worse and better say which way a benchmark or a line changed, if it did.
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

// sideInsns prints what a side executes: behind a ~ where passes differ, a minus
// where there is grid.None.
func sideInsns(x *bench.Executed) string {
	switch {
	case x == nil:
		return grid.None
	case x.Spread != nil:
		return "~" + unit.Mean(x.PerRun)
	}
	return unit.Mean(x.PerRun)
}

// lineDelta prints how much more the head executes of a line: behind a ~ where runs
// of one side differ as much.
func lineDelta(l *bench.Line) string {
	d := report.MoreInsns(l.Delta())
	if d != "=" && bench.Overlap(l.Base, l.Head) {
		return "~" + d
	}
	return d
}
