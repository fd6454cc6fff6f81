package insn

import (
	"errors"
	"fmt"
	"math"

	"github.com/org/ebpf-bench-action/internal/insn/bytecode"
)

// ErrJumpRange is returned for a program in which counters would make a jump
// longer than its 16 bits allow.
var ErrJumpRange = errors.New("jump becomes too long")

// aim sets the distances of all jumps. They no longer refer to symbols, because
// cilium/ebpf loses the symbol of an instruction with a CO-RE relocation for
// which the kernel has no target, and truncates distances that are too long for
// 16 bits (v0.22).
func (e *emitter) aim() error {
	for i := range e.graph.insns {
		if !bytecode.IsJump(&e.graph.insns[i]) {
			continue
		}
		ins := &e.out[e.index[i]]
		distance := e.landing[e.graph.targets[i]] - e.at[i] - 1
		if ins.Reference() != "" {
			*ins = ins.WithReference("")
		}
		switch {
		case bytecode.IsLongJump(ins):
			ins.Constant = int64(distance)
		case distance < math.MinInt16 || distance > math.MaxInt16:
			return fmt.Errorf("instruction %d: distance of %d: %w", i, distance, ErrJumpRange)
		default:
			ins.Offset = int16(distance)
		}
	}
	return nil
}
