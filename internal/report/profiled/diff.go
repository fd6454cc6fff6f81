package profiled

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/profile"
	"github.com/org/ebpf-bench-action/internal/profile/diff"
	"github.com/org/ebpf-bench-action/internal/report/grid"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// DiffModel is a comparison of two profiles and how to show it.
type DiffModel struct {
	*diff.Diff
	Color bool
	// Columns is the width of the terminal; 0 is any.
	Columns int
	// Rows is how many lines each table has at most.
	Rows int
}

// DiffJSON writes all functions that changed.
func DiffJSON(w io.Writer, m *DiffModel) error {
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	return out.Encode(m.Diff)
}

// DiffText writes what was compared, and a table of each type of values.
func DiffText(w io.Writer, m *DiffModel) error {
	parts := []string{m.head()}
	for i := range m.Kinds {
		parts = append(parts, m.kind(&m.Kinds[i]))
	}
	_, err := io.WriteString(w, strings.Join(parts, "\n"))
	return err
}

func (m *DiffModel) head() string {
	var b strings.Builder
	for _, side := range []struct {
		name string
		diff.Side
	}{{"base", m.Base}, {"head", m.Head}} {
		fmt.Fprintf(&b, "%s  %s", side.name, escape.Printable(side.Name))
		if side.Duration > 0 {
			fmt.Fprintf(&b, ", %s", duration(side.Duration))
		}
		if factor := m.Kinds[0].Factor; side.name == "base" && m.Scale == "duration" {
			fmt.Fprintf(&b, ": its values are multiplied by %.3g, as if it were as long as the head", factor)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// kind is a line with the change as a whole, and the table of the functions.
func (m *DiffModel) kind(k *diff.Kind) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s to %s, %s", grid.Paint(m.Color, grid.Bold, escape.Printable(k.Sample)), k.Format(float64(k.Total.Base)), k.Format(float64(k.Total.Head)), change(k, k.Total))
	if k.Total.Base != 0 && k.Total.By() != 0 {
		fmt.Fprintf(&b, " (%s)", unit.Change(float64(k.Total.By())/float64(k.Total.Base)))
	}
	if m.Scale == "total" {
		fmt.Fprintf(&b, ": the base is multiplied by %.3g", k.Factor)
	}
	b.WriteString("\n")
	g := new(grid.Grid)
	if k.Waits {
		g.Right("waited", "base", "head").Left("function").Rest("in")
	} else {
		g.Right("self", "base", "head", "total", "base", "head").Left("function").Rest("module")
	}
	for _, f := range k.Functions[:min(m.Rows, len(k.Functions))] {
		cells := m.change(k, f.Self)
		if k.Waits {
			g.Row(append(cells, grid.Word(f.Name), grid.Word(f.In))...)
			continue
		}
		g.Row(append(append(cells, m.change(k, f.Total)...), grid.Word(f.Name), grid.Word(f.Module))...)
	}
	if g.Len() == 0 {
		return b.String()
	}
	b.WriteString(g.Text(m.Columns, m.Color) + "\n")
	if more := len(k.Functions) - m.Rows; more > 0 {
		fmt.Fprintf(&b, "... and %s that changed less\n", unit.Plural(more, "function"))
	}
	return b.String()
}

// change returns the cells of a change: more is red.
func (m *DiffModel) change(k *diff.Kind, c diff.Change) []grid.Cell {
	by := grid.Figure(change(k, c))
	switch {
	case c.By() > 0:
		by = by.Paint(grid.Red)
	case c.By() < 0:
		by = by.Paint(grid.Green)
	default:
		by = grid.Figure(grid.None)
	}
	return []grid.Cell{by, value(k, c.Base), value(k, c.Head)}
}

func value(k *diff.Kind, v int64) grid.Cell {
	if v == 0 {
		return grid.Figure(grid.None)
	}
	return grid.Figure(k.Format(float64(v)))
}

func change(k *diff.Kind, c diff.Change) string {
	return profile.Signed(float64(c.By()), k.Format)
}
