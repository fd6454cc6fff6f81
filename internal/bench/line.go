package bench

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// Line is a line of source of a program, and what a run of the benchmark executes for it,
// on one side or on two.
type Line struct {
	// Program is the program that contains the line: the benchmark's, or one that it tail
	// calls.
	Program string `json:"program"`
	// Function is the function in the bytecode, which may have others inlined.
	Function string `json:"function"`
	// Later is what calls the function, or one that calls it, after the run that asked for
	// it: timer, workqueue or task. What is executed of the line is then per call. It is
	// empty if runs execute the line.
	Later string `json:"later,omitempty"`
	// File and Number are where the line is, according to the debug information of the
	// head's object, or of the base's if only that has the line. They are empty and 0
	// without debug information.
	File   string `json:"file,omitempty"`
	Number int    `json:"line,omitempty"`
	// Text is the line itself, as the object has it.
	Text string `json:"text,omitempty"`
	// Offset is the position of the line's first instruction in the program, InFunction in
	// its function, in slots of 8 bytes: the numbers that the verifier, bpftool and
	// llvm-objdump give to instructions. A 64-bit load takes two.
	Offset     int `json:"offset"`
	InFunction int `json:"in_function"`
	// InFunctionEnd is the slot of the last instruction, if this is a basic block and not
	// a line.
	InFunctionEnd int `json:"in_function_end,omitempty"`
	// BaseNumber, BaseFile and BaseText are the line's in the base, if they differ: it was
	// moved, its file was renamed, it was changed where it stands.
	BaseNumber int    `json:"base_line,omitempty"`
	BaseFile   string `json:"base_file,omitempty"`
	BaseText   string `json:"base_text,omitempty"`
	// Base and Head are what each side executes for the line, nil if a side has no such
	// line.
	Base *Executed `json:"base,omitempty"`
	Head *Executed `json:"head,omitempty"`
}

// Executed is what is executed in a part of a program.
type Executed struct {
	// PerRun is the mean number of BPF instructions executed per run of the benchmark, or
	// per call of a callback that is called later.
	PerRun float64 `json:"per_run"`
	// Instructions is how many instructions that part of the program has.
	Instructions int `json:"instructions"`
	// Times is how often a run reaches a line, in the mean: the count of its most executed
	// instruction among those that stay where they were written. It is 0 for a line that
	// no run reached, though the compiler may have moved some of its instructions to where
	// they are executed; see Partly.
	Times float64 `json:"times"`
	// FirstOnly says that only the very first runs reached the line, which find maps as
	// they were filled, and none of those that were counted after them.
	FirstOnly bool `json:"first_run_only,omitempty"`
	// Spread is what one pass over the inputs executes, if not all passes executed as
	// much.
	Spread *Spread `json:"spread,omitempty"`
	// Calls are the helpers and kfuncs that are called. A call is one instruction,
	// whatever it does.
	Calls []string `json:"calls,omitempty"`
	// Notes are other findings from the counts, such as that a tail call failed.
	Notes []string `json:"notes,omitempty"`
	// Code are the instructions, if they were requested.
	Code []Code `json:"code,omitempty"`
}

// Spread is the fewest and the most BPF instructions per run, each the mean of a pass.
type Spread struct {
	Least float64 `json:"least"`
	Most  float64 `json:"most"`
}

// Reached reports whether a run reached the part.
func (e *Executed) Reached() bool { return e.Times > 0 || e.FirstOnly }

// Partly reports whether a part was not reached although some of its instructions were
// executed.
func (e *Executed) Partly() bool { return !e.Reached() && e.PerRun > 0 }

// Overlap reports whether chance may explain why two sides differ: the runs of one differ
// among themselves, and the ranges of both overlap.
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
	// Offset is its slot in the program, see Line; Text is its assembly, as the verifier
	// writes it.
	Offset int    `json:"offset"`
	Text   string `json:"text"`
	// PerRun is how often a run executes it, in the mean.
	PerRun float64 `json:"per_run"`
	// Machine is an estimate of the machine instructions that the JIT made of it, nil if
	// the kernel does not provide it.
	Machine *int `json:"machine,omitempty"`
}

// Delta returns how many more BPF instructions a run of the head executes for the line
// than one of the base. A side without the line counts as zero.
func (l *Line) Delta() float64 { return l.Head.perRun() - l.Base.perRun() }

func (e *Executed) perRun() float64 {
	if e == nil {
		return 0
	}
	return e.PerRun
}

// Source returns where the line is, nil if that is unknown.
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

// Debug information has names and lines of any length, which a document would repeat for
// each instruction. So they are clipped when a document is made. The limits of reading are
// not below these, so what was made can be read.

// clippedText is how many bytes of a line of source, or of an instruction, are kept: more
// than anybody reads.
const clippedText = 1024

// ClipText clips a line of source or an instruction for a document.
func ClipText(s string) string { return clip(s, clippedText) }

// ClipName clips the name of a program or a function for a document.
func ClipName(s string) string { return clip(s, maxSourceFunction) }

// ClipFile clips the name of a file for a document.
func ClipFile(s string) string { return clip(s, maxFileName) }

// clip returns the beginning of a text in at most that many bytes. It replaces invalid
// UTF-8, which would become longer in JSON.
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
