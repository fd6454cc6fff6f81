package insn

import (
	"errors"
	"fmt"
	"math"

	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
)

// ErrJumpRange is returned for a program in which a jump would become longer than
// its 16 bits allow, by the counters between it and its target.
var ErrJumpRange = errors.New("jump becomes too long")

// counterLoad is what all counters' loads of the address have in common.
var counterLoad = asm.LoadMapValue(asm.R0, 0, 0).WithReference(MapName).Metadata

// emitter lays a program out anew, with its counters.
type emitter struct {
	graph    *graph
	sites    []site // of the counter in each block
	holds    []held // by function
	depths   []int  // by function
	assigned assignments

	out    asm.Instructions
	offset int // of what comes next, in slots of 8 bytes
	base   int // first counter of the function that is emitted
	// head is the instruction at the start of the block whose place the next one
	// that is emitted takes, or nil.
	head *asm.Instruction
	// landing is, for each instruction that begins a block, the offset that jumps
	// to it lead to; at is the offset of each instruction itself, index its place
	// in out.
	landing, at, index []int
}

// emit returns the instructions of the program with a counter in each block that
// has one.
func (e *emitter) emit() (asm.Instructions, error) {
	g := e.graph
	e.out = make(asm.Instructions, 0, len(g.insns)+3*len(g.blocks))
	e.landing, e.at, e.index = make([]int, len(g.insns)), make([]int, len(g.insns)), make([]int, len(g.insns))
	for b := range g.blocks {
		if err := e.block(b); err != nil {
			return nil, err
		}
	}
	return e.out, e.aim()
}

// block emits a block with its counter.
func (e *emitter) block(b int) error {
	block := &e.graph.blocks[b]
	e.landing[block.Start] = e.offset
	e.head = nil
	if block.Entry || block.Start != e.graph.functions[block.Function].Start {
		e.head = &e.graph.insns[block.Start]
	}
	if block.Entry {
		e.entry(block.Function)
	}
	if block.Start == block.End {
		return e.counter(b)
	}
	for i := block.Start; i < block.End; i++ {
		if block.Counter != Derived && e.sites[b].index == i {
			if err := e.counter(b); err != nil {
				return err
			}
		}
		ins := e.graph.insns[i]
		if i == block.Start && e.head == nil {
			ins = beheaded(ins)
		}
		e.head = nil
		e.at[i], e.index[i] = e.offset, len(e.out)
		e.append(ins)
	}
	return nil
}

func (e *emitter) append(ins asm.Instruction) {
	if e.head != nil {
		ins = crowned(ins, e.head)
		e.head = nil
	}
	e.out = append(e.out, ins)
	e.offset += int(ins.Width())
}

// entry emits what loads the registers that a function holds.
func (e *emitter) entry(f int) {
	h := e.holds[f]
	e.base = 0
	for _, block := range e.graph.blocks[e.graph.begin[f]:e.graph.begin[f+1]] {
		if block.Counter != Derived {
			e.base = block.Counter
			break
		}
	}
	if h.n > 0 {
		e.append(loadCounter(h.address, e.base))
	}
	if h.n > 1 {
		e.append(asm.Mov.Imm(h.one, 1))
	}
}

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
	used := append(h.registers(), free...)
	address, one := used[0], used[1]
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

// crowned gives an instruction what makes head the start of a block or of a
// function. The kernel wants line info of the first instruction of a function, so
// the line goes with it.
func crowned(ins asm.Instruction, head *asm.Instruction) asm.Instruction {
	if symbol := head.Symbol(); symbol != "" {
		ins = ins.WithSymbol(symbol)
	}
	if f := btf.FuncMetadata(head); f != nil {
		ins = btf.WithFuncMetadata(ins, f)
	}
	if source := head.Source(); source != nil {
		ins = ins.WithSource(source)
	}
	return ins
}

// beheaded is an instruction that nothing leads to any more. Its relocations stay
// with it.
func beheaded(ins asm.Instruction) asm.Instruction {
	if ins.Symbol() != "" {
		ins = ins.WithSymbol("")
	}
	if btf.FuncMetadata(&ins) != nil {
		ins = btf.WithFuncMetadata(ins, nil)
	}
	return ins
}

// aim sets the distances of all jumps. They do not refer to symbols any more,
// because cilium/ebpf loses the symbol of an instruction that has a CO-RE
// relocation which the kernel has no target for; and it cuts off distances that
// are too long for 16 bits (v0.22).
func (e *emitter) aim() error {
	for i := range e.graph.insns {
		if !isJump(&e.graph.insns[i]) {
			continue
		}
		ins := &e.out[e.index[i]]
		distance := e.landing[e.graph.targets[i]] - e.at[i] - 1
		*ins = ins.WithReference("")
		switch {
		case isLongJump(ins):
			ins.Constant = int64(distance)
		case distance < math.MinInt16 || distance > math.MaxInt16:
			return fmt.Errorf("instruction %d: distance of %d: %w", i, distance, ErrJumpRange)
		default:
			ins.Offset = int16(distance)
		}
	}
	return nil
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
