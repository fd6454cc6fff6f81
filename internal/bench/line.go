package bench

import (
	"errors"
	"fmt"
	"math"
)

// Line is a line of source of a program, and what a run of the benchmark
// executes of it, on one side or on two.
type Line struct {
	// Program is the program that the line is part of: that of the benchmark, or
	// one that it tail calls.
	Program string `json:"program"`
	// Function is the function of the bytecode, in which others may be inlined.
	Function string `json:"function"`
	// File and Number are where the line is, as the debug information of the
	// head's object has it, or of the base's where only that has the line. They
	// are empty and 0 without debug information.
	File   string `json:"file,omitempty"`
	Number int    `json:"line,omitempty"`
	// Text is the line itself, as the object has it.
	Text string `json:"text,omitempty"`
	// Offset is the index of the line's first instruction in the program, InFunction
	// that in its function.
	Offset     int `json:"offset"`
	InFunction int `json:"in_function"`
	// BaseNumber is the line's number in the base, where it is another one.
	BaseNumber int `json:"base_line,omitempty"`
	// Base and Head are what each side executes of the line, nil where a side
	// has no such line.
	Base *Executed `json:"base,omitempty"`
	Head *Executed `json:"head,omitempty"`
}

// Executed is what is executed of a part of a program.
type Executed struct {
	// PerRun are BPF instructions executed in a run of the benchmark, in the mean.
	PerRun float64 `json:"per_run"`
	// Instructions is how many instructions that part of the program has.
	Instructions int `json:"instructions"`
	// Code are those instructions, where they were asked for.
	Code []Code `json:"code,omitempty"`
}

// Code is an instruction of a program.
type Code struct {
	// Offset is its index in the program, Text its assembly.
	Offset int    `json:"offset"`
	Text   string `json:"text"`
	// PerRun is how often a run executes it, in the mean.
	PerRun float64 `json:"per_run"`
	// Machine is an estimate of the machine instructions that the JIT made of it,
	// nil where the kernel does not tell.
	Machine *int `json:"machine,omitempty"`
}

// Delta is how many BPF instructions more a run of the head executes of the line
// than one of the base; a line that a side lacks takes none there.
func (l *Line) Delta() float64 { return l.Head.perRun() - l.Base.perRun() }

func (e *Executed) perRun() float64 {
	if e == nil {
		return 0
	}
	return e.PerRun
}

// Source is where the line is, nil where that is not known.
func (l *Line) Source() *Source {
	if l.File == "" || l.Number == 0 {
		return nil
	}
	return &Source{File: l.File, Line: l.Number, Function: l.Function}
}

// maxLineText is how long a line of source may be: BTF has no limit of its own.
const maxLineText = 1 << 16

func (l *Line) check() error {
	if err := l.Source().Check(); err != nil {
		return err
	}
	if len(l.Program) > maxSourceFunction || len(l.Function) > maxSourceFunction || len(l.Text) > maxLineText {
		return errors.New("the texts of a line are too long")
	}
	for _, e := range []*Executed{l.Base, l.Head} {
		if n := e.perRun(); math.IsNaN(n) || math.IsInf(n, 0) || n < 0 {
			return fmt.Errorf("a line has %v instructions a run", n)
		}
	}
	return nil
}
