package srcline

import (
	"hash/fnv"
	"path"
	"strings"

	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/internal/insn"
	"github.com/org/ebpf-bench-action/internal/insn/bytecode"
)

// Edit is what is known of an edit of a line.
type Edit int

// The line was not edited; it was, and all that is new in it was executed; it was, and
// something of it was not.
const (
	Unedited Edit = iota
	EditRan
	EditMissed
)

// Edits returns, for each element that Join returned, whether the head's line was written
// or compiles differently than the base's: its text is new, or its instructions compute
// something else. Where the compiler put its values does not count, nor does another
// function that it was inlined into. The two are the programs of the lines, of which base
// may be nil; ran reports whether an instruction of the head was executed.
func Edits(joined []Joined, base, head *insn.Program, ran func(i int) bool) []Edit {
	type place struct{ file, text string }
	placeOf := func(l *Line) place { return place{path.Base(l.File), strings.Join(strings.Fields(l.Text), " ")} }
	elsewhere := map[place]*Line{}
	for _, j := range joined {
		if j.Head == nil {
			elsewhere[placeOf(j.Base)] = j.Base
		}
	}
	edits := make([]Edit, len(joined))
	for i, j := range joined {
		if j.Head == nil {
			continue
		}
		was := j.Base
		if was == nil {
			was = elsewhere[placeOf(j.Head)]
		}
		edits[i] = edit(was, j.Head, base, head, ran)
		if edits[i] == Unedited && (was == nil || placeOf(was).text != placeOf(j.Head).text) {
			edits[i] = EditMissed
			for _, at := range j.Head.Offsets {
				if ran(at) {
					edits[i] = EditRan
				}
			}
		}
	}
	return edits
}

// edit compares what the instructions of a line compute with what those of the base's, which
// may be nil, do. Of several that compute the same, one that was executed is enough: the
// line may have been inlined several times.
func edit(was, line *Line, base, head *insn.Program, ran func(i int) bool) Edit {
	more, all, known := map[uint64]int{}, map[uint64]bool{}, map[uint64]bool{}
	for _, i := range line.Offsets {
		if code, ok := does(&head.Instructions[i]); ok {
			more[code]++
			all[code] = all[code] || ran(i)
		}
	}
	if was != nil {
		for _, i := range was.Offsets {
			if code, ok := does(&base.Instructions[i]); ok {
				more[code]--
				known[code] = true
			}
		}
	}
	found := Unedited
	for code, n := range more {
		switch {
		case !known[code] && !all[code]:
			return EditMissed
		case n != 0:
			found = EditRan
		}
	}
	return found
}

// does returns a number that stands for what an instruction computes, whatever registers
// hold it and however far it jumps, and false if it only moves values between registers and
// the stack.
func does(ins *asm.Instruction) (code uint64, ok bool) {
	code = uint64(ins.OpCode) << 32
	class := ins.OpCode.Class()
	switch name := bytecode.Calls(ins); {
	case class.IsStore() && ins.Dst == asm.R10, class.IsLoad() && ins.Src == asm.R10:
		return 0, false
	case class.IsALU() && ins.OpCode.ALUOp() == asm.Mov && ins.OpCode.Source() == asm.RegSource:
		return 0, false
	case class.IsALU() && ins.OpCode.ALUOp() == asm.Add && ins.Constant < 0: // the address of a variable
		return 0, false
	case bytecode.IsJump(ins) && ins.OpCode.JumpOp() == asm.Ja:
		return 0, false
	case name != "":
		return code ^ hashOf(name), true
	case !bytecode.IsJump(ins) && ins.Reference() != "":
		return code ^ hashOf(ins.Reference()), true
	}
	return code ^ uint64(ins.Constant), true
}

func hashOf(s string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s))
	return h.Sum64()
}
