package measured

import (
	"fmt"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/report/grid"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/thresholds"
)

// OverBudget says what a value of a result exceeds: "latency: 120 ns, over the
// maximum of 100 ns". It omits the unit of a measure that is named after it.
func OverBudget(r *bench.Result, a *bench.Alert) string {
	m := bench.Measure{Name: a.Measure}
	if s := r.Sample(a.Measure); s != nil {
		m = s.Measure
	}
	if slices.Contains(strings.Split(m.Name, "-"), m.Unit) {
		m.Unit = ""
	}
	value, limit := budgetFigures(m, a.Value, a.Limit)
	return escape.Printable(fmt.Sprintf("%s: %s, %s %s", m.Name, value, thresholds.LimitWords(a.Under), limit))
}

// budgetFigures formats a value and its limit, with enough digits to
// distinguish them.
func budgetFigures(m bench.Measure, v, most float64) (value, limit string) {
	if m.Exact {
		value, limit, m.Unit = unit.Exactly(v, m.Counted()), unit.Exactly(most, m.Counted()), m.Counted()
	} else {
		value, limit = unit.Format(v, m.Unit), unit.Format(most, m.Unit)
	}
	if value == limit {
		return strings.TrimSpace(unit.Exact(v) + " " + m.Unit), strings.TrimSpace(unit.Exact(most) + " " + m.Unit)
	}
	return value, limit
}

// budgetVerdict returns a row's verdict on the benchmark's budgets, nil if they
// hold.
func budgetVerdict(r *Row) (verdict grid.Cell) {
	for _, a := range r.Alerts {
		if a.Severity != string(thresholds.Warn) {
			return grid.Figure("over budget").Paint(grid.Red)
		}
		verdict = grid.Figure("over budget (warning)").Paint(grid.Yellow)
	}
	return verdict
}

// budgetNotes say which budgets a benchmark exceeds.
func budgetNotes(m *Model, r *Row) []string {
	var all []string
	for i := range r.Alerts {
		label, color := "over budget: ", grid.Red
		if r.Alerts[i].Severity == string(thresholds.Warn) {
			label, color = "over budget (warning): ", grid.Yellow
		}
		all = append(all, grid.Paint(m.Color, color, label)+OverBudget(r.Result, &r.Alerts[i]))
	}
	return all
}

// hasAlerts reports whether any benchmark is over its budget.
func hasAlerts(rows []Row) bool {
	return slices.ContainsFunc(rows, func(r Row) bool { return len(r.Alerts) > 0 })
}
