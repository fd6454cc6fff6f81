package insn

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/internal/insn/bytecode"
)

// ErrIndirectJump is returned for a program with a jump to an address in a
// register (gotox, of jump tables), because the bytecode does not say where it
// leads.
var ErrIndirectJump = errors.New("indirect jump (gotox) cannot be instrumented")

// none is the target of an instruction without a target.
const none = -1

// label gives each target of a jump, call or function pointer a symbol and
// makes the instructions that lead there refer to it, so that others can be
// inserted in between. It returns for each instruction the index of its target,
// or none. It does not change original.
func label(original asm.Instructions) (asm.Instructions, []int, error) {
	insns := make(asm.Instructions, len(original))
	copy(insns, original)

	symbols, err := insns.SymbolOffsets()
	if err != nil {
		return nil, nil, err
	}
	offsets, at := bytecode.Layout(insns)
	targets := make([]int, len(insns))
	for i := range insns {
		targets[i] = none
		ins := &insns[i]
		if !bytecode.IsJump(ins) && !ins.IsFunctionReference() {
			continue
		}
		if isIndirectJump(ins) {
			return nil, nil, fmt.Errorf("instruction %d: %w", i, ErrIndirectJump)
		}

		distance := bytecode.DistanceOf(ins)
		if name := ins.Reference(); name != "" && distance == -1 {
			target, ok := symbols[name]
			if !ok {
				return nil, nil, fmt.Errorf("instruction %d: symbol %q is not in the program", i, name)
			}
			targets[i] = target
			continue
		}

		to := int64(offsets[i]) + 1 + distance
		if to < 0 || to >= int64(len(at)) || at[to] == none {
			return nil, nil, fmt.Errorf("instruction %d: target %+d is not in the program", i, distance)
		}
		target := at[to]
		name := insns[target].Symbol()
		if name == "" {
			name = unused(symbols, target)
			symbols[name] = target
			insns[target] = insns[target].WithSymbol(name)
		}
		refer(ins, name)
		targets[i] = target
	}
	return insns, targets, nil
}

// unused returns a name for the instruction that no other has.
func unused(symbols map[string]int, i int) string {
	name := ".L" + strconv.Itoa(i)
	for {
		if _, taken := symbols[name]; !taken {
			return name
		}
		name += "_"
	}
}

// refer makes a jump, call or function pointer refer to a symbol, so that
// cilium/ebpf fills in the distance when it loads the program.
func refer(ins *asm.Instruction, name string) {
	*ins = ins.WithReference(name)
	if ins.IsFunctionReference() || bytecode.IsLongJump(ins) {
		ins.Constant = -1
	} else {
		ins.Offset = -1
	}
}

func isIndirectJump(ins *asm.Instruction) bool {
	return ins.OpCode.JumpOp() == asm.Ja && ins.OpCode.Source() == asm.RegSource
}
