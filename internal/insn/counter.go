package insn

import (
	"fmt"

	"github.com/cilium/ebpf/asm"
)

// counterLoad is what all counters' loads of the address have in common.
var counterLoad = asm.LoadMapValue(asm.R0, 0, 0).WithReference(MapName).Metadata

// counter emits what bumps the counter of a block: its address, 1, atomic add, so
// far as the function does not hold them. A plain add would lose counts where two
// CPUs execute the block at once.
func (e *emitter) counter(b int) error {
	block, site := &e.graph.blocks[b], &e.sites[b]
	h := e.holds[block.Function]
	free := pick(site.dead())
	var saved []asm.Register
	for len(free) < site.needs {
		r, ok := e.save(b, saved)
		if !ok {
			return fmt.Errorf("instruction %d: no register holds a value: %w", site.index, ErrStack)
		}
		saved = append(saved, r)
		free = append(free, r)
	}

	depth := e.depths[block.Function]
	for n, r := range saved {
		offset, err := slot(depth, n)
		if err != nil {
			return fmt.Errorf("instruction %d: stack of %d bytes: %w", site.index, depth, err)
		}
		e.append(asm.StoreMem(asm.R10, offset, r, asm.DWord))
	}
	address, one := h.address, h.one
	switch h.n {
	case 0:
		address, one = free[0], free[1]
	case 1:
		one = free[0]
	}
	var offset int16
	if h.n > 0 {
		offset = int16((block.Counter - e.base) * counterSize)
	} else {
		e.append(loadCounter(address, block.Counter))
	}
	if h.n < 2 {
		e.append(asm.Mov.Imm(one, 1))
	}
	e.append(asm.AddAtomic.Mem(address, one, asm.DWord, offset))
	for n, r := range saved {
		offset, _ := slot(depth, n)
		e.append(asm.LoadMem(r, asm.R10, offset, asm.DWord))
	}
	return nil
}

func loadCounter(r asm.Register, counter int) asm.Instruction {
	return asm.LoadMapValue(r, 0, uint32(counter)*counterSize).WithMetadata(counterLoad)
}

// save chooses a register to save at the counter of a block, and tells whether
// there is one.
func (e *emitter) save(b int, saved []asm.Register) (asm.Register, bool) {
	site := &e.sites[b]
	held := e.assigned.before(e.graph, b, site.index) & site.live
	for _, r := range saved {
		held &^= only(r)
	}
	// Those last in the order of preference are the likeliest to hold a pointer,
	// of which the verifier knows as much after it was saved: of numbers it does
	// not before Linux 5.12.
	for i := len(preference) - 1; i >= 0; i-- {
		if held.has(preference[i]) {
			return preference[i], true
		}
	}
	return 0, false
}
