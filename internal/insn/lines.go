package insn

import (
	"cmp"
	"slices"

	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
)

// Line is a source line in a function that was made of it: code that was inlined
// into several functions has a Line in each.
type Line struct {
	Program, Function string
	File              string // empty if the compiler did not say
	Number            int    // from 1 on, 0 if the compiler did not say
	Text              string // as it was when it was compiled
	Instructions      int    // how many of the program are its
	Executed          uint64 // how many were executed
	First             int    // index of its first instruction
	Offsets           []int  // indexes of all of them
}

// Lines returns the source lines of a program, in order of functions, then of line
// numbers, then of files. An instruction that the compiler says nothing of is of
// the line before it in its function.
func (c *Counts) Lines(program string) []Line {
	p, _ := c.of(program)
	if p == nil {
		return nil
	}
	executed := c.Instructions(program)
	var all []Line
	for f := range p.Functions {
		all = append(all, p.lines(f, executed)...)
	}
	return all
}

// lines returns those of a function, ordered by number and file.
func (p *Program) lines(f int, executed []uint64) []Line {
	type place struct {
		file   string
		number int
	}
	fn := p.Functions[f]
	index := map[place]int{}
	var lines []Line
	at := none
	for i := fn.Start; i < fn.End; i++ {
		l := lineOf(&p.Instructions[i])
		if l != nil || at == none {
			var here place
			text := ""
			if l != nil {
				here, text = place{l.FileName(), int(l.LineNumber())}, l.Line()
			}
			known := false
			if at, known = index[here]; !known {
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
	slices.SortStableFunc(lines, func(a, b Line) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.File, b.File))
	})
	return lines
}

// lineOf is what the compiler says of an instruction: nil if nothing. Line 0 is
// what it says of code that is no line's.
func lineOf(ins *asm.Instruction) *btf.Line {
	if l, ok := ins.Source().(*btf.Line); ok && l.LineNumber() > 0 {
		return l
	}
	return nil
}
