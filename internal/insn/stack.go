package insn

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/cilium/ebpf/asm"
)

// ErrStack is returned if a block uses so many registers that its counter must
// save one, but the function's stack has no room.
var ErrStack = errors.New("no room on the stack for a register")

// stackLimit is how many bytes of stack a function may use. The kernel allows
// as many for a chain of calls, and 256 for one with tail calls; it refuses
// programs that a counter takes beyond that.
const stackLimit = 512

// StackDepths returns how many bytes of stack each function of a program uses,
// in the order of the functions. It reads them from the verifier's log
// (LogLevelStats, Linux 5.2; "stack depth 16+0"), and returns nil if the log
// does not have them.
//
// The functions are those that the verifier kept: it drops dead ones.
func StackDepths(verifierLog string) []int {
	const label = "stack depth "
	at := strings.LastIndex("\n"+verifierLog, "\n"+label)
	if at < 0 {
		return nil
	}
	line, _, _ := strings.Cut(verifierLog[at+len(label):], "\n")
	// Later kernels append more, after a space.
	line, _, _ = strings.Cut(line, " ")
	var depths []int
	for field := range strings.SplitSeq(strings.TrimRight(line, "\r"), "+") {
		depth, err := strconv.ParseUint(field, 10, 31)
		if err != nil {
			return nil
		}
		depths = append(depths, int(depth))
	}
	return depths
}

// stackDepths returns bounds for the bytes of stack that the functions of a
// program use, from the verifier and from the bytecode. The verifier knows
// about access by computed addresses. But since Linux 6.12 it also forgets the
// stack of registers that are saved around helpers that would not clobber them,
// and a counter in between makes it use that again.
func stackDepths(g *graph, verified []int) []int {
	depths := make([]int, len(g.functions))
	for f, fn := range g.functions {
		depths[f] = visibleDepth(g.insns[fn.Start:fn.End])
		switch {
		case len(verified) == len(depths):
			depths[f] = max(depths[f], verified[f])
		case len(verified) > 0:
			// The verifier dropped a dead function, but does not say which.
			depths[f] = max(depths[f], slices.Max(verified))
		}
	}
	return depths
}

// visibleDepth returns how far down the stack the instructions visibly reach:
// by an offset from R10, or by subtracting from a copy of it. Compilers do the
// latter in one step, so it considers any constant that is subtracted.
func visibleDepth(insns asm.Instructions) int {
	lowest := 0
	for i := range insns {
		ins := &insns[i]
		switch class := ins.OpCode.Class(); {
		case class == asm.LdXClass && ins.Src == asm.R10, class.IsStore() && ins.Dst == asm.R10,
			// Load-acquire is in the class of stores.
			class == asm.StXClass && ins.Src == asm.R10:
			lowest = min(lowest, int(ins.Offset))
		case class == asm.ALU64Class && ins.OpCode.Source() == asm.ImmSource:
			switch ins.OpCode.ALUOp() {
			case asm.Add:
				lowest = min(lowest, onStack(ins.Constant))
			case asm.Sub:
				lowest = min(lowest, onStack(-ins.Constant))
			}
		}
	}
	return -lowest
}

// onStack returns an offset if it can be on the stack, else 0.
func onStack(offset int64) int {
	if offset < -stackLimit || offset > 0 {
		return 0
	}
	return int(offset)
}

// slot returns the offset from R10 of the nth free 8 bytes below a depth.
func slot(depth, n int) (int16, error) {
	offset := (depth+7)/8*8 + 8*(n+1)
	if offset > stackLimit {
		return 0, ErrStack
	}
	return int16(-offset), nil
}
