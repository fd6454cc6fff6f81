// Package profiled writes profiles for a terminal.
package profiled

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/profile"
	"github.com/org/ebpf-bench-action/internal/report/grid"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// Model is a profile and how to show it.
type Model struct {
	*profile.Profile
	Color bool
	// Columns is the width of the terminal; 0 is any.
	Columns int
	// Rows is how many lines each table has at most.
	Rows int
}

// Text writes where the time goes: what threads wait for, in which functions the CPU is,
// and the stacks with the most time.
func Text(w io.Writer, m *Model) error {
	var parts []string
	for _, part := range []string{m.head(), m.waits(), m.functions(), m.stacks(), m.others(), m.cut()} {
		if part != "" {
			parts = append(parts, strings.TrimRight(part, "\n"))
		}
	}
	_, err := io.WriteString(w, strings.Join(parts, "\n\n")+"\n")
	return err
}

func (m *Model) head() string {
	what := escape.Printable(m.Title())
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %s\n", grid.Paint(m.Color, grid.Bold, what), duration(m.Duration), unit.Plural(len(m.Threads), "thread"))
	for kind := range profile.Kinds {
		source, ok := m.Sources[kind]
		if !ok {
			continue
		}
		took, n := m.Total(kind)
		if kind == profile.CPU {
			source = fmt.Sprintf("%s at %d Hz", source, m.Frequency)
		}
		fmt.Fprintf(&b, "%-7s  %s in %s (%s)", kind, duration(took), unit.Plural(n, "sample"), source)
		if idle := m.idle(); kind == profile.OffCPU && idle > 0 {
			fmt.Fprintf(&b, ", %s of it idle threads of the Go runtime", duration(idle))
		}
		b.WriteString("\n")
	}
	return b.String()
}

func (m *Model) idle() (sum time.Duration) {
	for _, w := range m.Waits() {
		if w.Idle {
			sum += w.Took
		}
	}
	return sum
}

func duration(d time.Duration) string { return unit.NS(float64(d)) }

func share(part, whole time.Duration) grid.Cell {
	if whole == 0 {
		return grid.Figure(grid.None)
	}
	return grid.Figure(unit.Share(float64(part) / float64(whole)))
}

// waits is the table of the lines that threads wait in.
func (m *Model) waits() string {
	all := m.Waits()
	if len(all) == 0 {
		return ""
	}
	whole, _ := m.Total(profile.OffCPU)
	g := new(grid.Grid)
	g.Right("waited", "", "longest", "times").Left("line", "function").Rest("in")
	rows := 0
	for _, w := range all {
		if w.Idle || rows == m.Rows {
			continue
		}
		rows++
		g.Row(grid.Figure(duration(w.Took)), share(w.Took, whole), grid.Figure(duration(w.Longest)), grid.Figure(unit.Exact(float64(w.Count))),
			grid.Word(line(w.File, w.Line)), grid.Word(w.Name), grid.Word(w.In))
	}
	if rows == 0 {
		return ""
	}
	return m.titled("Where threads wait", g)
}

// functions is the table of the functions that the CPU is in.
func (m *Model) functions() string {
	all := m.Functions(profile.CPU)
	if len(all) == 0 {
		return ""
	}
	whole, _ := m.Total(profile.CPU)
	g := new(grid.Grid)
	g.Right("self", "", "total", "").Left("line", "function").Rest("module")
	for _, f := range all[:min(m.Rows, len(all))] {
		g.Row(grid.Figure(duration(f.Self)), share(f.Self, whole), grid.Figure(duration(f.Total)), share(f.Total, whole),
			grid.Word(line(f.File, f.Line)), grid.Word(f.Name), grid.Word(filepath.Base(f.Module)))
	}
	return m.titled("Where the CPU works", g)
}

// stacks are the ones with the most time of their kind.
func (m *Model) stacks() string {
	const most, deep = 3, 12
	var b strings.Builder
	for _, kind := range []profile.Kind{profile.CPU, profile.OffCPU} {
		whole, _ := m.Total(kind)
		for _, s := range m.WidestStacks(kind, most) {
			fmt.Fprintf(&b, "%s, %s of %s, thread %s\n", duration(s.Took), unit.Share(float64(s.Took)/float64(max(whole, 1))), kind, escape.Printable(s.Thread))
			n := 0
			for _, l := range s.Stack.Locations {
				for _, f := range l.Frames {
					if n++; n > deep {
						continue
					}
					fmt.Fprintf(&b, "    %s", escape.Printable(l.Name(f.Func)))
					if at := line(f.File, f.Line); at != "" {
						fmt.Fprintf(&b, "  %s", escape.Printable(at))
					}
					b.WriteString("\n")
				}
			}
			if n > deep {
				fmt.Fprintf(&b, "    ... and %d callers\n", n-deep)
			}
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return grid.Paint(m.Color, grid.Bold, "Stacks with the most time") + "\n" + b.String()
}

// others are the tables of requests to disks and of page faults.
func (m *Model) others() string {
	var tables []string
	for _, of := range []struct {
		kind  profile.Kind
		title string
	}{{profile.Disk, "What disks are asked by"}, {profile.Fault, "What faults"}} {
		if _, n := m.Total(of.kind); n > 0 {
			tables = append(tables, m.titled(of.title, m.events(of.kind)))
		}
	}
	return strings.Join(tables, "\n")
}

// events has the lines that made requests or faulted.
func (m *Model) events(kind profile.Kind) *grid.Grid {
	g := new(grid.Grid)
	g.Right("count", "took", "longest")
	if kind == profile.Disk {
		g.Right("bytes")
	}
	g.Left("line").Rest("function")
	all := m.Events(kind)
	for _, e := range all[:min(m.Rows, len(all))] {
		cells := []grid.Cell{grid.Figure(unit.Exact(float64(e.Count))), grid.Figure(duration(e.Took)), grid.Figure(duration(e.Longest))}
		if kind == profile.Disk {
			cells = append(cells, grid.Figure(unit.Bytes(float64(e.Bytes))))
		}
		g.Row(append(cells, grid.Word(line(e.File, e.Line)), grid.Word(e.Name))...)
	}
	return g
}

// cut says how many stacks are not whole, and what to do.
func (m *Model) cut() string {
	modules, cut, all := m.CutStacks()
	if cut == 0 || all == 0 {
		return ""
	}
	var names []string
	for _, c := range modules {
		names = append(names, fmt.Sprintf("%s (%d)", escape.Printable(filepath.Base(c.Module)), c.Cut))
	}
	why := "their code keeps no frame pointers. Record with --unwind dwarf, or compile it with -fno-omit-frame-pointer."
	if m.Unwind == profile.DWARF {
		why = "they are deeper than the copy of 24 KiB, or their code has neither unwind tables (.eh_frame) nor frame pointers."
	}
	return grid.Wrap(fmt.Sprintf("%s of %s are cut off, in %s: %s",
		unit.Exact(float64(cut)), unit.Plural(all, "stack"), unit.Few(names), why), cmp.Or(m.Columns, grid.TextWidth), 0, 0)
}

func (m *Model) titled(title string, g *grid.Grid) string {
	return grid.Paint(m.Color, grid.Bold, title) + "\n" + g.Text(m.Columns, m.Color) + "\n"
}

// line returns the end of a path with a line, as short as is useful.
func line(file string, n int) string {
	if file == "" {
		return ""
	}
	if n == 0 {
		return filepath.Base(file)
	}
	return fmt.Sprintf("%s:%d", filepath.Base(file), n)
}
