package runner

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/insn"
)

// joinLines are the lines of the programs of both sides, either of which may be
// nil: first those of the program itself, which is the same one whatever its
// name, then those of the programs that it tail calls.
func joinLines(base, head *executed) []bench.Line {
	bases, heads := base.lines(), head.lines()
	var all []bench.Line
	for i, h := range heads {
		j := slices.IndexFunc(bases, func(b programLines) bool { return b.program == h.program })
		if i == 0 && len(bases) > 0 {
			j = 0
		}
		var b programLines
		if j >= 0 {
			b = bases[j]
			bases = slices.Delete(bases, j, j+1)
		}
		all = append(all, joinProgram(b, h)...)
	}
	for _, b := range bases {
		all = append(all, joinProgram(b, programLines{})...)
	}
	return all
}

// programLines are the lines of one program of a side.
type programLines struct {
	program string
	side    *executed
	lines   []insn.Line
	// executed is how often each instruction was executed.
	executed []uint64
}

func (e *executed) lines() []programLines {
	if e == nil {
		return nil
	}
	sum := e.sum()
	of := func(program string) programLines {
		return programLines{program, e, sum.Lines(program), sum.Instructions(program)}
	}
	all := []programLines{of(e.job.Program)}
	for _, p := range e.table.Programs {
		if p.Name != e.job.Program {
			all = append(all, of(p.Name))
		}
	}
	return all
}

// sum are the counts of all passes.
func (e *executed) sum() *insn.Counts {
	sum := e.passes[0]
	for _, p := range e.passes[1:] {
		sum = sum.Add(p)
	}
	return sum
}

func joinProgram(base, head programLines) []bench.Line {
	var all []bench.Line
	for _, j := range insn.Join(base.lines, head.lines) {
		line := bench.Line{Base: base.of(j.Base), Head: head.of(j.Head)}
		of, at := &head, j.Head
		if at == nil {
			of, at = &base, j.Base
		}
		line.Program, line.Function, line.Offset = at.Program, at.Function, at.First
		line.InFunction = at.First - of.start(at.Function)
		line.Text = at.Text
		if at.File != "" {
			line.File, line.Number = path.Clean(at.File), at.Number
		}
		if line.Source().Check() != nil {
			line.File, line.Number = "", 0
		}
		if j.Base != nil && j.Base.Number != at.Number {
			line.BaseNumber = j.Base.Number
		}
		all = append(all, line)
	}
	return all
}

// start is the index of the first instruction of a function.
func (p *programLines) start(function string) int {
	functions := p.side.table.Program(p.program).Functions
	return functions[slices.IndexFunc(functions, func(f insn.Function) bool { return f.Name == function })].Start
}

// of is what a run executes of a line, nil of nil.
func (p *programLines) of(l *insn.Line) *bench.Executed {
	if l == nil {
		return nil
	}
	x := &bench.Executed{PerRun: p.side.perRun(l.Executed), Instructions: l.Instructions}
	if !p.side.code {
		return x
	}
	// Those of the table have labels, which nobody wrote.
	instructions, machine := p.side.job.Spec.Programs[p.program].Instructions, p.side.machine[p.program]
	for _, i := range l.Offsets {
		c := bench.Code{Offset: i, Text: fmt.Sprint(instructions[i]), PerRun: p.side.perRun(p.executed[i])}
		if i < len(machine) {
			c.Machine = &machine[i]
		}
		x.Code = append(x.Code, c)
	}
	return x
}

func (e *executed) perRun(n uint64) float64 { return round(float64(n) / float64(e.runs())) }

// changedLines are the lines that a run executes more or less of, what changed
// most first. Without both sides there are none.
func changedLines(base, head *executed) []bench.Line {
	if base == nil || head == nil {
		return nil
	}
	lines := slices.DeleteFunc(joinLines(base, head), func(l bench.Line) bool { return l.Delta() == 0 })
	slices.SortStableFunc(lines, func(a, b bench.Line) int {
		return cmp.Compare(math.Abs(b.Delta()), math.Abs(a.Delta()))
	})
	return lines[:min(len(lines), bench.MaxLines)]
}
