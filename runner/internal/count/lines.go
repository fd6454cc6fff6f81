package count

import (
	"cmp"
	"math"
	"path"
	"slices"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/insn"
	"github.com/org/ebpf-bench-action/internal/insn/bytecode"
	"github.com/org/ebpf-bench-action/internal/insn/srcline"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// joinLines joins the lines of the programs of both sides, and one may
// be nil: first the lines of the program itself, which counts as the same one
// whatever its name, then those of the programs that it tail calls. It returns for each
// line what is known of its edit.
func joinLines(base, head *Executed) (all []bench.Line, edits []srcline.Edit) {
	bases, heads := base.lines(), head.lines()
	join := func(b, h programLines) {
		lines, edited := joinProgram(b, h)
		all, edits = append(all, lines...), append(edits, edited...)
	}
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
		join(b, h)
	}
	for _, b := range bases {
		join(b, programLines{})
	}
	return all, edits
}

// programLines are the lines of one program of a side.
type programLines struct {
	program string
	side    *Executed
	lines   []srcline.Line
	// executed is how often each instruction was executed, first how often in
	// the first slice; passes holds the same for each pass that differs from
	// the one before.
	executed, first []uint64
	passes          [][]uint64
	runs            []uint64
	slots           []int
	text            []string // of the instructions, if lines should include them
	// later has the callback, and how often it was called, of each function that
	// something calls after the runs.
	later map[string]insn.Later
}

func (e *Executed) lines() []programLines {
	if e == nil {
		return nil
	}
	called := e.last.Sub(e.first)
	of := func(program string) programLines {
		code, total := e.table.Program(program), e.total.Instructions(program)
		later := called.LaterOf(program)
		if len(later) > 0 {
			since := called.Instructions(program)
			for _, f := range code.Functions {
				if f.Later != "" {
					copy(total[f.Start:f.End], since[f.Start:f.End])
				}
			}
		}
		p := programLines{
			program: program, side: e, lines: srcline.Of(code, total), executed: total,
			first: e.first.Instructions(program), slots: code.Slots(), later: later,
		}
		for i, next := range e.passes {
			if next.runs > 0 && (i == 0 || next.counts != e.passes[i-1].counts) {
				p.passes, p.runs = append(p.passes, next.counts.Instructions(program)), append(p.runs, next.runs)
			}
		}
		if e.code {
			// The table's instructions have labels that nobody wrote.
			p.text = bytecode.Disassemble(e.job.Spec.Programs[program].Instructions)
		}
		return p
	}
	all := []programLines{of(e.job.Program)}
	for _, p := range e.table.Programs {
		if p.Name != e.job.Program {
			all = append(all, of(p.Name))
		}
	}
	return all
}

func joinProgram(base, head programLines) (all []bench.Line, edits []srcline.Edit) {
	joined := srcline.Join(base.lines, head.lines)
	for _, j := range joined {
		line := bench.Line{Base: base.of(j.Base), Head: head.of(j.Head)}
		of, at := &head, j.Head
		if at == nil {
			of, at = &base, j.Base
		}
		line.Program, line.Function, line.Offset = bench.ClipName(at.Program), bench.ClipName(at.Function), of.slots[at.First]
		start := of.start(at.Function)
		line.InFunction = line.Offset - start
		line.Later = of.later[at.Function].By
		line.Text = bench.ClipText(at.Text)
		if at.File != "" {
			line.File, line.Number = path.Clean(at.File), at.Number
		}
		if line.Source() == nil || line.Source().Check() != nil {
			line.File, line.Number = "", 0
		}
		if line.Source() == nil {
			line.InFunctionEnd = of.slots[at.Offsets[len(at.Offsets)-1]] - start
		}
		if j.Base != nil && j.Head != nil {
			wasOf(&line, j.Base)
		}
		all = append(all, line)
	}
	ran := func(i int) bool { return head.executed[i] > 0 || head.first[i] > 0 }
	return all, srcline.Edits(joined, base.code(), head.code(), ran)
}

// code returns the program, or nil if the side has none.
func (p *programLines) code() *insn.Program {
	if p.side == nil {
		return nil
	}
	return p.side.table.Program(p.program)
}

// wasOf notes what differs about a line in the base.
func wasOf(line *bench.Line, base *srcline.Line) {
	if base.Number != line.Number {
		line.BaseNumber = base.Number
	}
	if base.File != "" && path.Base(base.File) != path.Base(line.File) {
		line.BaseFile = bench.ClipFile(path.Clean(base.File))
	}
	if text := bench.ClipText(base.Text); text != line.Text {
		line.BaseText = text
	}
}

// start returns the slot of the first instruction of a function.
func (p *programLines) start(function string) int {
	functions := p.side.table.Program(p.program).Functions
	return p.slots[functions[slices.IndexFunc(functions, func(f insn.Function) bool { return f.Name == function })].Start]
}

// of returns what a run executes of a line, or nil if l is nil.
func (p *programLines) of(l *srcline.Line) *bench.Executed {
	if l == nil {
		return nil
	}
	per := p.side.perRun
	later, isLater := p.later[l.Function]
	if isLater {
		per = func(n uint64) float64 { return unit.Round(float64(n) / float64(max(later.Calls, 1))) }
	}
	x := &bench.Executed{PerRun: per(l.Executed), Instructions: l.Instructions, Times: per(l.Times), Calls: l.Calls}
	if !isLater {
		x.Spread = p.spread(l)
	}
	x.FirstOnly = l.Times == 0 && l.TimesOf(p.side.table.Program(p.program), p.first) > 0
	for _, i := range l.Offsets {
		if why := p.side.note(p.program, i); why != "" && !slices.Contains(x.Notes, why) {
			x.Notes = append(x.Notes, why)
		}
	}
	if !p.side.code {
		return x
	}
	machine := p.side.machine[p.program]
	for _, i := range l.Offsets {
		c := bench.Code{Offset: p.slots[i], Text: bench.ClipText(p.text[i]), PerRun: per(p.executed[i])}
		if i < len(machine) {
			c.Machine = &machine[i]
		}
		x.Code = append(x.Code, c)
	}
	return x
}

// spread returns the range of what passes executed of a line.
func (p *programLines) spread(l *srcline.Line) *bench.Spread {
	least, most := math.Inf(1), math.Inf(-1)
	for n, executed := range p.passes {
		var sum uint64
		for _, i := range l.Offsets {
			sum += executed[i]
		}
		perRun := unit.Round(float64(sum) / float64(p.runs[n]))
		least, most = min(least, perRun), max(most, perRun)
	}
	if least >= most {
		return nil
	}
	return &bench.Spread{Least: least, Most: most}
}

func (e *Executed) perRun(n uint64) float64 { return unit.Round(float64(n) / float64(e.runs())) }

// Compare gives a pair the lines that a run executes more or less often, the largest
// change first, and the lines that were edited. It gives none unless both sides exist.
func Compare(p *bench.Pair, base, head *Executed) {
	if base == nil || head == nil {
		return
	}
	lines, edits := joinLines(base, head)
	p.Edited = editedLines(lines, edits)
	lines = slices.DeleteFunc(lines, func(l bench.Line) bool { return l.Delta() == 0 })
	slices.SortStableFunc(lines, func(a, b bench.Line) int {
		return cmp.Compare(math.Abs(b.Delta()), math.Abs(a.Delta()))
	})
	p.Lines = lines[:min(len(lines), bench.MaxLines)]
}

// editedLines returns the edited ones of the lines, in order of files and numbers, each
// once though functions that contain it may be several. It returns none if they are too
// many for a change.
func editedLines(lines []bench.Line, edits []srcline.Edit) []bench.EditedLine {
	var all []bench.EditedLine
	at := map[bench.EditedLine]int{}
	for i := range lines {
		l := &lines[i]
		if edits[i] == srcline.Unedited || l.Source() == nil {
			continue
		}
		key := bench.EditedLine{File: l.File, Number: l.Number}
		n, known := at[key]
		if !known {
			n = len(all)
			at[key] = n
			all = append(all, key)
		}
		all[n].Reached = all[n].Reached || edits[i] == srcline.EditRan
	}
	if len(all) > bench.MaxEdited {
		return nil
	}
	slices.SortFunc(all, func(a, b bench.EditedLine) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Number, b.Number))
	})
	return all
}
