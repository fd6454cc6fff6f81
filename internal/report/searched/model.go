// Package searched reports which inputs a search found.
package searched

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/report"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/internal/workload/packet"
)

// Model is what the renderers of a search show: the same programs on one or several
// kernels.
type Model struct {
	Tables []*bench.Search
	// Color allows escape sequences.
	Color bool
	// Columns is the width of the text; 0 means any width.
	Columns int
	// Explained says that the reader also sees the errors of programs elsewhere, so that
	// the text need not repeat them.
	Explained bool
}

// New returns a Model with one table per kernel.
func New(tables ...*bench.Search) *Model { return &Model{Tables: tables} }

// JSON writes the searches as they are read again.
func JSON(w io.Writer, m *Model) error { return bench.EncodeSearches(w, m.Tables...) }

// kernels returns the labels of the tables.
func (m *Model) kernels() []string {
	return report.Labels(m.Tables, func(t **bench.Search) *bench.Testbed { return &(*t).Testbed })
}

func (m *Model) columns() int { return cmp.Or(m.Columns, math.MaxInt32) }

// reached says how much of a program inputs reach.
func reached(p *bench.Searched) string {
	c := &p.Blocks
	text := fmt.Sprintf("%d of %s reached (%s), by the default input %d", c.Reached, unit.Plural(c.Reachable(), "block"), unit.Share(ratio(c.Reached, c.Reachable())), c.Default)
	if c.Alive == nil {
		text += "; this kernel does not tell which of them a run may reach"
	}
	return text
}

// tried says how many inputs a program was given, and how to do so again.
func tried(p *bench.Searched, seed uint64) string {
	text := unit.Plural(p.Tried, "input") + " tried"
	if p.Elapsed > 0 {
		text += " in " + unit.NS(p.Elapsed*1e9)
	}
	if p.Refused > 0 {
		text += fmt.Sprintf(", %d of them refused by the kernel", p.Refused)
	}
	if p.Unsteady > 0 {
		text += fmt.Sprintf(", %d left out because they do not always execute the same", p.Unsteady)
	}
	return text + fmt.Sprintf("; the same again: --runs %d --seed %d", p.Tried, seed)
}

func ratio(n, of int) float64 { return float64(n) / float64(max(of, 1)) }

// packetOf describes a packet with its size.
func packetOf(digits string) string {
	frame, err := hex.DecodeString(digits)
	if err != nil {
		return "no packet"
	}
	return fmt.Sprintf("%s, %s", packet.Describe(frame), unit.Plural(len(frame), "byte"))
}

// given says what an input gives the program, in a few words.
func given(in *bench.FoundInput) string {
	var parts []string
	if in.Context != "" {
		parts = append(parts, "a context")
	}
	entries := map[string]int{}
	for _, e := range in.Entries {
		entries[e.Map]++
	}
	for _, e := range in.Entries {
		if n := entries[e.Map]; n > 0 {
			what := fmt.Sprintf("%d entries in %s", n, e.Map)
			if n == 1 {
				what = "an entry in " + e.Map
			}
			parts = append(parts, what)
			delete(entries, e.Map)
		}
	}
	switch n := len(in.Packets); {
	case n == 1:
		parts = append(parts, packetOf(in.Packets[0]))
	case n > 1:
		var kinds []string
		for _, p := range in.Packets {
			kinds = unit.AppendNew(kinds, packetOf(p))
		}
		parts = append(parts, unit.Plural(n, "packet")+": "+strings.Join(kinds, "; "))
	}
	if len(parts) == 0 {
		return "the default context"
	}
	return strings.Join(parts, ", ")
}
