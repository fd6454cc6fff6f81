package insn

import (
	"fmt"

	"github.com/cilium/ebpf/asm"
)

// counterLoad is what all counters' loads of the address have in common.
var counterLoad = asm.LoadMapValue(asm.R0, 0, 0).WithReference(MapName).Metadata

// counter emits what bumps the counter of a block: its address and 1, unless others
// left them, and an atomic add. A plain one would lose counts where two CPUs
// execute the block at once.
func (e *emitter) counter(b int) error {
	block, site := &e.graph.blocks[b], &e.sites[b]
	t := e.temporaries[b]
	var saved []asm.Register
	for use := range t {
		if t[use].register != noRegister {
			continue
		}
		r, ok := e.save(b, saved)
		if !ok {
			return fmt.Errorf("instruction %d: no register holds a value: %w", site.index, ErrStack)
		}
		t[use].register = r
		saved = append(saved, r)
	}

	depth := e.depths[block.Function]
	for n, r := range saved {
		offset, err := slot(depth, n)
		if err != nil {
			return fmt.Errorf("instruction %d: stack of %d bytes: %w", site.index, depth, err)
		}
		e.append(asm.StoreMem(asm.R10, offset, r, asm.DWord))
	}
	base := e.base
	if block.Counter-base >= maxShared {
		base = block.Counter
	}
	if !t[address].left {
		e.append(loadCounter(t[address].register, base))
	}
	if !t[one].left {
		e.append(asm.Mov.Imm(t[one].register, 1))
	}
	offset := int16((block.Counter - base) * counterSize)
	e.append(asm.AddAtomic.Mem(t[address].register, t[one].register, asm.DWord, offset))
	for n, r := range saved {
		offset, _ := slot(depth, n)
		e.append(asm.LoadMem(r, asm.R10, offset, asm.DWord))
	}
	return nil
}

func loadCounter(r asm.Register, counter int) asm.Instruction {
	return asm.LoadMapValue(r, 0, uint32(counter)*counterSize).WithMetadata(counterLoad)
}

// save chooses a register to save at the counter of a block, and reports whether
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
