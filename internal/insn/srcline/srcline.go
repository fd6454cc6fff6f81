// Package srcline attributes the instructions that a program executed to lines
// of source, and finds the lines that two programs share.
package srcline

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"

	"github.com/org/ebpf-bench-action/internal/insn"
	"github.com/org/ebpf-bench-action/internal/insn/bytecode"
)

// Line is a source line in a function that was compiled from it: code that was
// inlined into several functions has a Line in each. In a function without line
// info, it is a basic block.
type Line struct {
	Program, Function string
	File              string // empty if the compiler did not say
	Number            int    // from 1 on, 0 if the compiler did not say
	Text              string // as it was when it was compiled
	Instructions      int    // how many instructions of the program it has
	Executed          uint64 // how many were executed
	// Times is how often the line was reached, or iterated: the count of the
	// most executed one of its instructions that stay where they were written.
	// A compiler moves others in front of a branch, where they are executed
	// though the line is not reached.
	Times   uint64
	Calls   []string // helpers and kfuncs that it calls, each once
	First   int      // index of its first instruction
	Offsets []int    // indexes of all of them

	code string // of a block: blocks with equal code are equal
}

// Of returns the source lines of a program, given how often its Instructions
// were executed, in order of functions, then of line numbers, then of files. An
// instruction without line info belongs to the line before it in its function.
func Of(p *insn.Program, executed []uint64) []Line {
	var all []Line
	for f := range p.Functions {
		all = append(all, linesOf(p, f, executed)...)
	}
	return all
}

// Known reports whether any instruction has line info.
func Known(programs []*insn.Program) bool {
	return slices.ContainsFunc(programs, func(p *insn.Program) bool {
		return slices.ContainsFunc(p.Instructions, func(ins asm.Instruction) bool { return lineOf(&ins) != nil })
	})
}

// linesOf returns the lines of a function, ordered by number and file.
func linesOf(p *insn.Program, f int, executed []uint64) []Line {
	type place struct {
		file   string
		number int
	}
	fn := p.Functions[f]
	known := slices.ContainsFunc(p.Instructions[fn.Start:fn.End], func(ins asm.Instruction) bool { return lineOf(&ins) != nil })
	blocks := map[int]bool{} // where they begin
	for b := range p.Blocks {
		blocks[p.Blocks[b].Start] = !known
	}
	index := map[place]int{}
	var lines []Line
	at := -1
	for i := fn.Start; i < fn.End; i++ {
		l := lineOf(&p.Instructions[i])
		if l != nil || at < 0 || blocks[i] {
			var here place
			text := ""
			if l != nil {
				here, text = place{l.FileName(), int(l.LineNumber())}, l.Line()
			}
			seen := false
			if at, seen = index[here]; !seen || blocks[i] {
				at = len(lines)
				index[here] = at
				lines = append(lines, Line{
					Program: p.Name, Function: fn.Name,
					File: here.file, Number: here.number, Text: text, First: i,
				})
			}
		}
		lines[at].Instructions++
		lines[at].Offsets = append(lines[at].Offsets, i)
		lines[at].Executed += executed[i]
	}
	for i := range lines {
		lines[i].finish(p, executed)
	}
	slices.SortStableFunc(lines, func(a, b Line) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.File, b.File))
	})
	return lines
}

// finish derives further fields from the instructions of a line.
func (l *Line) finish(p *insn.Program, executed []uint64) {
	l.Times = l.TimesOf(p, executed)
	for _, i := range l.Offsets {
		ins := &p.Instructions[i]
		if name := bytecode.Calls(ins); name != "" && !slices.Contains(l.Calls, name) {
			l.Calls = append(l.Calls, name)
		}
		if l.Number == 0 {
			l.code += content(ins) + "\n"
		}
	}
}

// TimesOf returns the line's Times for other counts of its program's
// instructions.
func (l *Line) TimesOf(p *insn.Program, executed []uint64) uint64 {
	var all, staying uint64
	stay := false
	for _, i := range l.Offsets {
		all = max(all, executed[i])
		if stays(&p.Instructions[i]) {
			stay, staying = true, max(staying, executed[i])
		}
	}
	if stay {
		return staying
	}
	return all
}

// stays reports whether no compiler moves an instruction in front of a branch,
// because its effect cannot be undone: stores, calls and jumps. Others only
// compute.
func stays(ins *asm.Instruction) bool {
	class := ins.OpCode.Class()
	return class.IsStore() || class.IsJump()
}

// content returns an instruction without what depends on its position.
func content(ins *asm.Instruction) string {
	where := *ins
	if bytecode.IsJump(ins) {
		where.Offset = 0
		where = where.WithReference("")
	}
	return fmt.Sprint(where)
}

// lineOf returns the line info of an instruction, or nil. The compiler gives
// line 0 to code that belongs to no line.
func lineOf(ins *asm.Instruction) *btf.Line {
	if l, ok := ins.Source().(*btf.Line); ok && l.LineNumber() > 0 {
		return l
	}
	return nil
}

// At returns the line of an instruction of a program, without counts, or nil if
// the program has no such instruction.
func At(p *insn.Program, i int) *Line {
	for f := range p.Functions {
		fn := &p.Functions[f]
		if i < fn.Start || i >= fn.End {
			continue
		}
		line := &Line{Program: p.Name, Function: fn.Name, First: i}
		for ; i >= fn.Start; i-- {
			if l := lineOf(&p.Instructions[i]); l != nil {
				line.File, line.Number, line.Text = l.FileName(), int(l.LineNumber()), l.Line()
				break
			}
		}
		return line
	}
	return nil
}
