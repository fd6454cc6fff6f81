package bench

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
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
	// Offset is where the line's first instruction is in the program, InFunction in
	// its function, in slots of 8 bytes: the numbers that the verifier, bpftool and
	// llvm-objdump give to instructions, of which a 64-bit load takes two.
	Offset     int `json:"offset"`
	InFunction int `json:"in_function"`
	// InFunctionEnd is the slot of the last instruction, where this is a basic block
	// and not a line.
	InFunctionEnd int `json:"in_function_end,omitempty"`
	// BaseNumber, BaseFile and BaseText are the line's in the base, where they are
	// others: it was moved, its file was renamed, it was changed where it stands.
	BaseNumber int    `json:"base_line,omitempty"`
	BaseFile   string `json:"base_file,omitempty"`
	BaseText   string `json:"base_text,omitempty"`
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
	// Times is how often a run gets to a line, in the mean: how often the most
	// executed one of its instructions is that stay where they were written. It is 0
	// of a line that no run reached, though the compiler may have moved some of its
	// instructions to where they are executed; see Partly.
	Times float64 `json:"times"`
	// FirstOnly says that the very first runs reached the line, which find maps as
	// they were filled, and none of those that were counted after it.
	FirstOnly bool `json:"first_run_only,omitempty"`
	// Spread is what one pass over the inputs executes, where not all passes
	// executed as much.
	Spread *Spread `json:"spread,omitempty"`
	// Calls are helpers and kfuncs that are called: a call is one instruction,
	// whatever is done there.
	Calls []string `json:"calls,omitempty"`
	// Notes are what else the counts say, such as that a tail call failed.
	Notes []string `json:"notes,omitempty"`
	// Code are those instructions, where they were asked for.
	Code []Code `json:"code,omitempty"`
}

// Spread is the fewest and the most BPF instructions a run, in the mean of a pass.
type Spread struct {
	Least float64 `json:"least"`
	Most  float64 `json:"most"`
}

// Reached reports whether a run reached the part.
func (e *Executed) Reached() bool { return e.Times > 0 || e.FirstOnly }

// Partly tells of a part that was not reached that some of its instructions were
// executed all the same.
func (e *Executed) Partly() bool { return !e.Reached() && e.PerRun > 0 }

// Overlap reports whether chance may be why two sides differ: runs of one differ among
// themselves, and what they execute is not on this side or that of all of the other.
func Overlap(a, b *Executed) bool {
	if a == nil || b == nil || a.Spread == nil && b.Spread == nil {
		return false
	}
	x, y := a.spread(), b.spread()
	return x.Least <= y.Most && y.Least <= x.Most
}

func (e *Executed) spread() Spread {
	if e.Spread != nil {
		return *e.Spread
	}
	return Spread{e.PerRun, e.PerRun}
}

// Code is an instruction of a program.
type Code struct {
	// Offset is its slot in the program, see Line; Text is its assembly, as the
	// verifier writes it.
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
	if len(l.Program) > maxSourceFunction || len(l.Function) > maxSourceFunction || len(l.Text) > maxLineText || len(l.BaseText) > maxLineText || len(l.BaseFile) > maxFileName {
		return errors.New("the texts of a line are too long")
	}
	for _, e := range []*Executed{l.Base, l.Head} {
		if n := e.perRun(); math.IsNaN(n) || math.IsInf(n, 0) || n < 0 {
			return fmt.Errorf("a line has %v instructions a run", n)
		}
	}
	return nil
}

// Debug information has names and lines of any length, which a document would have
// once for each instruction. So they are clipped where a document is made, and what
// was made can be read: the limits of reading are none below these.

// clippedText is how many bytes of a line of source, or of an instruction, are kept:
// more than anybody reads.
const clippedText = 1024

// ClipText is a line of source or an instruction as a document has it.
func ClipText(s string) string { return clip(s, clippedText) }

// ClipName is the name of a program or a function as a document has it.
func ClipName(s string) string { return clip(s, maxSourceFunction) }

// ClipFile is the name of a file as a document has it.
func ClipFile(s string) string { return clip(s, maxFileName) }

// clip is the beginning of a text that has so many bytes. What is not UTF-8 would
// become longer in JSON.
func clip(s string, most int) string {
	const more = "…"
	if s = strings.ToValidUTF8(s, string(utf8.RuneError)); len(s) <= most {
		return s
	}
	end := most - len(more)
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + more
}
