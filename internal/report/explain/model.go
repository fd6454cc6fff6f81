// Package explain reports what a run of a program executes, line by line of its
// source: as text, Markdown, JSON, a page of HTML, and profiles that other
// tools read.
package explain

import (
	"cmp"
	"encoding/json"
	"io"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/report"
	"github.com/org/ebpf-bench-action/internal/report/grid"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// Model is what the renderers of an explanation show: the same benchmarks on
// one or several kernels, line by line.
type Model struct {
	Tables []*bench.Explanation
	// Color allows escape sequences.
	Color bool
	// Columns is the width of the text; 0 means any width.
	Columns int
	// ByFile lists lines in the order of their files, instead of the dearest
	// ones first.
	ByFile bool
	// All also lists the lines that do not matter.
	All bool
	// Asm lists the instructions of each line.
	Asm bool
	// Paths are the paths of source files on this machine, for viewers that
	// open them. A file that is not among them gets a name that leads to no
	// other file: see path.
	Paths map[string]string
	// Sources are the lines of source files on this machine, by the names in
	// lines: the surroundings of a line are shown from them.
	Sources map[string][]string
	// Explained says that the reader also sees the errors of benchmarks
	// elsewhere, so that the text need not repeat them.
	Explained bool
}

// New returns a Model with one table per kernel.
func New(tables ...*bench.Explanation) *Model {
	return &Model{Tables: tables}
}

// kernels returns the labels of the tables.
func (m *Model) kernels() []string {
	return report.Labels(m.Tables, func(t **bench.Explanation) *bench.Testbed { return &(*t).Testbed })
}

// path returns the path of a source file. An object can name any file as its
// source, such as /etc/passwd, and go tool pprof and genhtml print what they
// find there. So a file that was not found keeps its path only if that is the
// path of a source file within a folder, and otherwise gets only its name.
func (m *Model) path(file string) string {
	if p, ok := m.Paths[file]; ok {
		return p
	}
	if filepath.IsLocal(file) && IsSource(file) {
		return file
	}
	return path.Base(path.Clean(file))
}

// sourceEnds are the extensions of sources of eBPF programs.
var sourceEnds = []string{".c", ".h", ".cc", ".cpp", ".hpp", ".rs", ".zig", ".go", ".s", ".inc"}

// IsSource reports whether, by its name, a file may be source of an eBPF
// program.
func IsSource(file string) bool {
	return slices.Contains(sourceEnds, strings.ToLower(path.Ext(file)))
}

// program is a benchmark on the kernels that agree about it.
type program struct {
	*bench.Explained
	kernels []string
	// onlyBase and onlyHead say that only one of two sides has it.
	onlyBase, onlyHead bool
}

// programs returns the benchmarks of all tables, in order, once for kernels
// that agree.
func (m *Model) programs() []program {
	var all []program
	var keys []string
	labels := m.kernels()
	for i, t := range m.Tables {
		for j := range t.Programs {
			p := &t.Programs[j]
			key := p.Benchmark
			if len(m.Tables) > 1 {
				// Figures that cannot be written make no two kernels alike.
				text, err := json.Marshal(p)
				key += "\x00" + string(text)
				if err != nil {
					key += labels[i]
				}
			}
			if n := slices.Index(keys, key); n >= 0 {
				all[n].kernels = append(all[n].kernels, labels[i])
				continue
			}
			keys = append(keys, key)
			two := t.Base != nil && p.Error == ""
			all = append(all, program{p, []string{labels[i]}, two && p.Head == nil, two && p.Base == nil})
		}
	}
	first := map[string]int{}
	for i, p := range all {
		if _, ok := first[p.Benchmark]; !ok {
			first[p.Benchmark] = i
		}
	}
	slices.SortStableFunc(all, func(a, b program) int { return first[a.Benchmark] - first[b.Benchmark] })
	return all
}

// where returns the kernels of a benchmark, or "" if there is only one.
func (p *program) where(m *Model) string {
	if len(m.Tables) == 1 {
		return ""
	}
	return report.OnKernels(p.kernels, len(m.Tables))
}

// two reports whether there are two sides.
func (p *program) two() bool { return p.Base != nil && p.Head != nil }

// side returns the head, or the base if the head lacks the benchmark.
func (p *program) side() *bench.ExplainedSide {
	if p.Head != nil {
		return p.Head
	}
	return p.Base
}

// of returns what is executed of a line on the side that its place refers to.
func (p *program) of(l *bench.Line) *bench.Executed {
	if p.Head != nil {
		return l.Head
	}
	return l.Base
}

// weight returns how much a line matters: by how much it changed or, if there
// is nothing to compare with, how much of it is executed.
func (p *program) weight(l *bench.Line) float64 {
	if p.two() {
		return math.Abs(unit.Tidy(l.Delta()))
	}
	return report.PerRun(p.of(l))
}

// Up to manyLines lines are listed whatever their weights; beyond that, those
// that make up mostWeight.
const (
	manyLines  = 40
	mostWeight = 0.99
)

// listing is the lines of a benchmark that a report lists.
type listing struct {
	lines []*bench.Line
	// light is how many lines have weight but are not listed, lightWeight their
	// total weight.
	light       int
	lightWeight float64
	// same is how many executed lines did not change, sameInsns how many of
	// their instructions a run executes.
	same      int
	sameInsns float64
}

// listing returns the lines to list, in order.
func (p *program) listing(m *Model) listing {
	var out listing
	total := 0.0
	for i := range p.Lines {
		l := &p.Lines[i]
		w := p.weight(l)
		switch {
		case w > 0:
			out.lines = append(out.lines, l)
			total += w
		case m.All && !p.two():
			out.lines = append(out.lines, l)
		case m.All && report.PerRun(l.Base)+report.PerRun(l.Head) > 0:
			out.lines = append(out.lines, l)
		case p.two() && report.PerRun(p.of(l)) > 0:
			if out.same++; l.Later == "" {
				out.sameInsns += report.PerRun(p.of(l))
			}
		}
	}
	slices.SortStableFunc(out.lines, func(a, b *bench.Line) int {
		return cmp.Or(cmp.Compare(p.weight(b), p.weight(a)), cmp.Compare(report.PerRun(p.of(b)), report.PerRun(p.of(a))))
	})
	if !m.All && len(out.lines) > manyLines {
		n, sum := 0, 0.0
		for n < len(out.lines) && (n < manyLines || sum < mostWeight*total) {
			sum += p.weight(out.lines[n])
			n++
		}
		out.light, out.lightWeight = len(out.lines)-n, total-sum
		out.lines = out.lines[:n]
	}
	if m.ByFile {
		slices.SortStableFunc(out.lines, inFile)
	}
	return out
}

// inFile orders lines as in their files.
func inFile(a, b *bench.Line) int {
	return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Number, b.Number), cmp.Compare(a.Program, b.Program), cmp.Compare(a.Offset, b.Offset))
}

// function is a function of the bytecode with its lines, in order of program
// and instruction.
type function struct {
	program, name string
	later         string // what calls it after the run; see bench.Line
	lines         []*bench.Line
	base, head    float64
	baseHas       bool
	headHas       bool
}

// functions returns the functions of a benchmark, in the order of the program.
func (p *program) functions() []function {
	var all []function
	at := map[[2]string]int{}
	for i := range p.Lines {
		l := &p.Lines[i]
		program, name := p.function(l)
		key := [2]string{program, name}
		n, ok := at[key]
		if !ok {
			n = len(all)
			at[key] = n
			all = append(all, function{program: program, name: name, later: l.Later})
		}
		f := &all[n]
		f.lines = append(f.lines, l)
		f.base += report.PerRun(l.Base)
		f.head += report.PerRun(l.Head)
		f.baseHas = f.baseHas || l.Base != nil
		f.headHas = f.headHas || l.Head != nil
	}
	return all
}

// function returns the program and the function of a line. The program that is
// entered, and its first function, count as the same on both sides, whatever
// their names: they have the head's.
func (p *program) function(l *bench.Line) (program, name string) {
	program, name = l.Program, l.Function
	if p.two() && l.Head == nil && program == p.Base.Program {
		program = p.Head.Program
		if name == p.Base.Program {
			name = p.Head.Program
		}
	}
	return program, name
}

// figures returns what both sides execute of it, and how much more the head
// does.
func (f *function) figures() (base, head, delta string) {
	base, head = grid.None, grid.None
	if f.baseHas {
		base = unit.Mean(f.base)
	}
	if f.headHas {
		head = unit.Mean(f.head)
	}
	return base, head, report.MoreInsns(f.head - f.base)
}

// label returns the function's name, with the program if that is not the
// entered one, and with the base's name if the base starts with another
// program.
func (f *function) label(p *program) string {
	if p.two() && f.program == p.Head.Program && f.name == p.Head.Program && p.Base.Program != p.Head.Program {
		return p.Base.Program + " → " + p.Head.Program
	}
	return functionLabel(p, f.program, f.name) + calledBy(f.later)
}

// calledBy says what calls a function after the run, if something does.
func calledBy(later string) string {
	if later == "" {
		return ""
	}
	return ", called by a " + later
}

func functionLabel(p *program, program, function string) string {
	s := p.side()
	if s == nil || program == s.Program || program == "" || program == function {
		return function
	}
	return program + ": " + function
}

// JSON writes all counts in the form that bench.DecodeExplanation reads.
func JSON(w io.Writer, m *Model) error { return bench.EncodeExplanations(w, m.Tables...) }
