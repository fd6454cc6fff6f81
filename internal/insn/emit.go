package insn

import (
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
)

// emitter lays out a program with its counters.
type emitter struct {
	graph       *graph
	original    asm.Instructions
	sites       []site        // of the counter in each block
	temporaries []temporaries // of the counter in each block
	logs        map[int]Site  // by instruction
	depths      []int         // by function
	assigned    assignments
	alone       bool // counters find nothing in registers that others left

	out    asm.Instructions
	offset int // of the next instruction, in slots of 8 bytes
	base   int // first counter of the current function
	// head is the instruction at the start of the block, whose place the next
	// emitted instruction takes, or nil.
	head *asm.Instruction
	// landing is, for each instruction that starts a block, the offset for
	// jumps to it; at is the offset of each instruction itself, index its place
	// in out.
	landing, at, index []int
	starts             []bool // of functions
}

// emit returns the instructions of the program, with counters in the blocks
// that have one.
func (e *emitter) emit() (asm.Instructions, error) {
	g := e.graph
	e.out = make(asm.Instructions, 0, len(g.insns)+3*len(g.blocks))
	e.landing, e.at, e.index = make([]int, len(g.insns)), make([]int, len(g.insns)), make([]int, len(g.insns))
	e.starts = make([]bool, len(g.insns))
	for _, fn := range g.functions {
		e.starts[fn.Start] = true
	}
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
		head := e.instruction(block.Start)
		e.head = &head
	}
	if block.Entry {
		e.base = e.firstCounter(block.Function)
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
		if s, ok := e.logs[i]; ok {
			e.log(s)
		}
		ins := e.instruction(i)
		if i == block.Start && e.head == nil {
			ins = beheaded(ins)
		}
		e.head = nil
		e.at[i], e.index[i] = e.offset, len(e.out)
		e.append(ins)
	}
	return nil
}

// instruction returns the original instruction, unless calls and pointers need
// its symbol or it is one of them. Nothing else needs symbols; see aim.
func (e *emitter) instruction(i int) asm.Instruction {
	ins := &e.graph.insns[i]
	if ins.IsFunctionReference() || e.starts[i] {
		return *ins
	}
	return e.original[i]
}

func (e *emitter) append(ins asm.Instruction) {
	if e.head != nil {
		ins = crowned(ins, e.head)
		e.head = nil
	}
	e.out = append(e.out, ins)
	e.offset += int(ins.Width())
}

// firstCounter returns the first counter of a function.
func (e *emitter) firstCounter(f int) int {
	for _, block := range e.graph.blocks[e.graph.begin[f]:e.graph.begin[f+1]] {
		if block.Counter != Derived {
			return block.Counter
		}
	}
	return 0
}

// crowned moves to ins the metadata that makes head the start of a block or of
// a function. It includes the line, because the kernel requires line info for
// the first instruction of a function.
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

// beheaded returns an instruction without the metadata of a start. It keeps its
// relocations.
func beheaded(ins asm.Instruction) asm.Instruction {
	if ins.Symbol() != "" {
		ins = ins.WithSymbol("")
	}
	if btf.FuncMetadata(&ins) != nil {
		ins = btf.WithFuncMetadata(ins, nil)
	}
	return ins
}
