// Package report holds what the reports on runs, comparisons and explanations
// share: the texts for machines and kernels, figures, and lines of source. Each
// report is a package below it, and knows neither terminals nor files.
package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/report/grid"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// Labels returns short names that distinguish testbeds: the series of the
// kernel, its whole release if two share a series, and also the mode if two
// share a release.
func Labels[T any](tables []T, testbed func(*T) *bench.Testbed) []string {
	var testbeds []*bench.Testbed
	for i := range tables {
		testbeds = append(testbeds, testbed(&tables[i]))
	}
	series, releases := map[string]int{}, map[string]int{}
	for _, t := range testbeds {
		series[bench.Series(t.Kernel)]++
		releases[t.Kernel]++
	}
	var all []string
	for _, t := range testbeds {
		switch {
		case series[bench.Series(t.Kernel)] == 1:
			all = append(all, bench.Series(t.Kernel))
		case releases[t.Kernel] == 1:
			all = append(all, t.Kernel)
		default:
			all = append(all, t.Kernel+" "+string(t.Mode))
		}
	}
	return all
}

// OnKernels names kernels by their labels, or all of them in two words.
func OnKernels(on []string, total int) string {
	if len(on) == total {
		return "all kernels"
	}
	return strings.Join(on, ", ")
}

// Across is a benchmark on several kernels; an element is nil if that kernel
// lacks it.
type Across[T any] struct {
	Benchmark string
	On        []*T
}

// Matrix joins the benchmarks of several kernels by their names, in their
// order.
func Matrix[T any](tables [][]T, benchmark func(*T) string) []Across[T] {
	var rows []Across[T]
	at := map[string]int{}
	for k, table := range tables {
		for i := range table {
			name := benchmark(&table[i])
			n, ok := at[name]
			if !ok {
				n = len(rows)
				at[name] = n
				rows = append(rows, Across[T]{name, make([]*T, len(tables))})
			}
			rows[n].On[k] = &table[i]
		}
	}
	return rows
}

// Said is a sentence, and the kernels that it applies to.
type Said struct {
	Text string
	// Kernels are the releases on a machine, or the labels of runs.
	Kernels []string
}

// Sentences are sentences that each appear once, with all kernels that they
// apply to.
type Sentences []*Said

// Add adds a sentence that applies to a kernel.
func (all *Sentences) Add(text, kernel string) {
	i := slices.IndexFunc(*all, func(s *Said) bool { return s.Text == text })
	if i < 0 {
		*all = append(*all, &Said{text, []string{kernel}})
		return
	}
	s := (*all)[i]
	s.Kernels = unit.AppendNew(s.Kernels, kernel)
}

// Heads are the lines that say what was measured: each machine with all of its
// kernels and, below, the lines of the runs, with the kernel if they differ.
type Heads struct {
	machines, runs Sentences
}

// Add adds a run: its machine and kernel, and its own lines.
func (h *Heads) Add(t *bench.Testbed, label string, run ...string) {
	kernel := t.Kernel
	if t.ByDefault {
		kernel += " (the default kernel)"
	}
	h.machines.Add(machine(t), kernel)
	for _, line := range run {
		h.runs.Add(line, label)
	}
}

// Lines returns the lines.
func (h *Heads) Lines(total int) []string { return h.lines(total, math.MaxInt) }

// Wrapped returns the lines, and breaks those with several kernels.
func (h *Heads) Wrapped(total int) []string { return h.lines(total, grid.MaxWidth) }

func (h *Heads) lines(total, columns int) []string {
	var all []string
	for _, m := range h.machines {
		if len(m.Kernels) == 1 {
			all = append(all, escape.Printable("Linux "+m.Kernels[0])+" · "+m.Text)
			continue
		}
		all = append(all, grid.Wrap(escape.Printable("Linux "+strings.Join(m.Kernels, ", ")), columns, 0, 6), m.Text)
	}
	for _, r := range h.runs {
		if len(r.Kernels) == total {
			all = append(all, r.Text)
			continue
		}
		all = append(all, escape.Printable(strings.Join(r.Kernels, ", "))+": "+r.Text)
	}
	return all
}

// TestbedLine describes a kernel and its machine.
func TestbedLine(t *bench.Testbed) string {
	return escape.Printable("Linux "+t.Kernel) + " · " + machine(t)
}

// machine describes a testbed without its kernel.
func machine(t *bench.Testbed) string {
	parts := []string{t.CPU}
	if t.Cores > 0 {
		parts = append(parts, unit.Plural(t.Cores, "core"))
	}
	if t.Virtual != "" {
		parts = append(parts, t.Virtual)
	}
	if t.JIT != "unknown" {
		parts = append(parts, "JIT "+t.JIT)
	}
	return escape.Printable(strings.Join(parts, " · "))
}

// WhyPartial says why a run or a comparison is incomplete.
func WhyPartial(what string, missing bench.Shards, kernels []string) string {
	switch {
	case len(missing) > 0:
		return missing.Are("missing")
	case len(kernels) > 0:
		return MissingKernels(kernels)
	}
	return "the " + what + " was ended early"
}

// MissingKernels says which kernels have no results.
func MissingKernels(names []string) string {
	return "nothing was measured on " + escape.Printable(strings.Join(names, ", "))
}

// SideName returns the user's name for a side, with its commit if that is
// known.
func SideName(s *bench.Side) string {
	name, note, commit := escape.Printable(s.Name), escape.Printable(s.Note), fmt.Sprintf("%.7s", escape.Printable(s.Commit))
	if name == "" {
		name = escape.Printable(s.Branch)
	}
	if name != "" && note != "" {
		name += ", " + note
	}
	if name != "" && s.Merged {
		name += ", merged into the base"
	}
	switch {
	case commit == "":
		return name
	case name == "":
		return commit
	}
	return name + " (" + commit + ")"
}
