// Package explain reports what a run of a program executes, line by line of its source:
// as text, Markdown, JSON, a page of HTML, and profiles that other tools read.
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

// Model is what the renderers of an explanation show: the same benchmarks
// on one or several kernels, line by line.
type Model struct {
	Tables []*bench.Explanation
	// Color allows escape sequences.
	Color bool
	// Columns is how wide the text may be, 0 for any width.
	Columns int
	// ByFile lists lines in the order of their files, not the dearest ones first.
	ByFile bool
	// All lists also the lines that do not matter.
	All bool
	// Asm lists the instructions of each line.
	Asm bool
	// Paths are where on this machine the files of source are, for viewers that
	// open them. Of a file that is not among them they get a name that leads to no
	// other file: see path.
	Paths map[string]string
	// Sources are the lines of the files of source that are on this machine, by the
	// names that lines have: what is around a line is shown from them.
	Sources map[string][]string
	// Explained says that the reader is told beside the text why benchmarks
	// failed, so that it need not say it again.
	Explained bool
}

// New shows one table a kernel.
func New(tables ...*bench.Explanation) *Model {
	return &Model{Tables: tables}
}

// kernels are the labels of the tables.
func (m *Model) kernels() []string {
	return report.Labels(m.Tables, func(t **bench.Explanation) *bench.Testbed { return &(*t).Testbed })
}

// path is where a file of source is. An object names any file as its source, such as
// /etc/passwd, and go tool pprof and genhtml print what they find there. So one that
// was not found goes by its own path only where that is one of source within a
// folder, and else by its name.
func (m *Model) path(file string) string {
	if p, ok := m.Paths[file]; ok {
		return p
	}
	if filepath.IsLocal(file) && IsSource(file) {
		return file
	}
	return path.Base(path.Clean(file))
}

// sourceEnds are how the names of sources of eBPF programs end.
var sourceEnds = []string{".c", ".h", ".cc", ".cpp", ".hpp", ".rs", ".zig", ".go", ".s", ".inc"}

// IsSource tells by its name whether a file may be source of an eBPF program.
func IsSource(file string) bool {
	return slices.Contains(sourceEnds, strings.ToLower(path.Ext(file)))
}

// program is a benchmark on the kernels that say the same of it.
type program struct {
	*bench.Explained
	kernels []string
	// onlyBase and onlyHead say that of two sides just one has it.
	onlyBase, onlyHead bool
}

// programs are the benchmarks of all tables, in their order: what several kernels
// say is there once.
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

// where is the kernels of a benchmark, empty where there is nothing to tell apart.
func (p *program) where(m *Model) string {
	if len(m.Tables) == 1 {
		return ""
	}
	return report.OnKernels(p.kernels, len(m.Tables))
}

// two reports whether there are two sides.
func (p *program) two() bool { return p.Base != nil && p.Head != nil }

// side is the head, or the base of what the head does not have.
func (p *program) side() *bench.ExplainedSide {
	if p.Head != nil {
		return p.Head
	}
	return p.Base
}

// of is what is executed of a line on the side that its place is of.
func (p *program) of(l *bench.Line) *bench.Executed {
	if p.Head != nil {
		return l.Head
	}
	return l.Base
}

// weight is how much a line matters: by how much it changed, or how much of it is
// executed where there is nothing to compare it with.
func (p *program) weight(l *bench.Line) float64 {
	if p.two() {
		return math.Abs(unit.Tidy(l.Delta()))
	}
	return report.PerRun(p.of(l))
}

// manyLines is how many lines are listed whatever each of them weighs; of more
// than these, the ones that make up mostWeight.
const (
	manyLines  = 40
	mostWeight = 0.99
)

// listing is the lines of a benchmark that a report lists.
type listing struct {
	lines []*bench.Line
	// light is how many lines weigh something and are not listed, lightWeight
	// what they weigh together.
	light       int
	lightWeight float64
	// same is how many lines are executed and did not change, sameInsns how many
	// instructions of them a run executes.
	same      int
	sameInsns float64
}

// listing are the lines to list, in order.
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
			out.same++
			out.sameInsns += report.PerRun(p.of(l))
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

// inFile orders lines as their files have them.
func inFile(a, b *bench.Line) int {
	return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Number, b.Number), cmp.Compare(a.Program, b.Program), cmp.Compare(a.Offset, b.Offset))
}

// function is a function of the bytecode with its lines, in order of
// program and instruction.
type function struct {
	program, name string
	lines         []*bench.Line
	base, head    float64
	baseHas       bool
	headHas       bool
}

// functions are the functions of a benchmark, in the order of the program.
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
			all = append(all, function{program: program, name: name})
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

// function is the program and the function of a line. The program that is entered,
// and the function that it begins with, are the same ones on both sides, whatever
// their names are: they are the head's.
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

// figures are what both sides execute of it, and how much more the head does.
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

// label is the function's name, with the program if that is not the one that was
// entered, and with that of the base where it begins another program.
func (f *function) label(p *program) string {
	if p.two() && f.program == p.Head.Program && f.name == p.Head.Program && p.Base.Program != p.Head.Program {
		return p.Base.Program + " → " + p.Head.Program
	}
	return functionLabel(p, f.program, f.name)
}

func functionLabel(p *program, program, function string) string {
	s := p.side()
	if s == nil || program == s.Program || program == "" || program == function {
		return function
	}
	return program + ": " + function
}

// JSON writes everything that was counted, as bench.DecodeExplanation
// reads it.
func JSON(w io.Writer, m *Model) error { return bench.EncodeExplanations(w, m.Tables...) }
