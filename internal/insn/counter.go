package insn

import (
	"fmt"

	"github.com/cilium/ebpf/asm"
)

// counterLoad is the metadata of every counter's load of an address.
var counterLoad = asm.LoadMapValue(asm.R0, 0, 0).WithReference(MapName).Metadata

// counter emits the counter of a block: loads of its address and of 1, unless
// others left them in registers, and an atomic add. A plain add would lose
// counts when two CPUs execute the block at once.
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
	if block.Counter-base >= maxShared || e.alone {
		base = block.Counter
	}
	if !t[address].left || e.alone {
		e.append(loadCounter(t[address].register, base))
	}
	if !t[one].left || e.alone {
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

// save chooses a register to save at the counter of a block. It reports whether
// there is one.
func (e *emitter) save(b int, saved []asm.Register) (asm.Register, bool) {
	site := &e.sites[b]
	held := e.assigned.before(e.graph, b, site.index) & site.live
	for _, r := range saved {
		held &^= only(r)
	}
	// The last in the order of preference are the likeliest to hold a pointer.
	// The verifier knows as much about a pointer after it was saved, but not
	// about a number before Linux 5.12.
	for i := len(preference) - 1; i >= 0; i-- {
		if held.has(preference[i]) {
			return preference[i], true
		}
	}
	return 0, false
}
