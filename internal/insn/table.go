package insn

import (
	"bytes"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/internal/insn/bytecode"
)

// Table interprets the counters of an instrumented collection.
type Table struct {
	Programs []*Program // by name
	byName   map[string]*Program
	counters int
	sites    []Site // by program and instruction
	logSize  int    // of what they write, in bytes
	// missesKeys says that calls that may change entries of maps are not among the sites.
	missesKeys bool
}

// Program is a program before it was instrumented.
type Program struct {
	Name string
	Type ebpf.ProgramType
	// Instructions are the original ones; targets of jumps have symbols.
	Instructions asm.Instructions
	Functions    []Function // in order; the first is where the program begins
	Blocks       []Block    // in order
	equations    []equation // each for the count of another block
}

// Function is a function of a program: all its Instructions from Start up to
// End.
type Function struct {
	Name       string
	Start, End int
	// Later is what calls the function, or one that calls it, after the run that
	// asked for it: timer, workqueue or task. It is empty if the run itself may
	// execute the function.
	Later string
	// Callback is the index of the function that is called then.
	Callback int
	// handed are the calls that hand the function over, to be called by what by says.
	// shares are the functions that it and runs may execute.
	handed []int
	by     string
	shares []string
}

// Block is a basic block: Instructions from Start up to End that are executed
// all or not at all. Only an entry whose first instruction is the target of a
// jump has no instructions: it counts calls.
type Block struct {
	Function   int // index of the function that contains it
	Start, End int
	Entry      bool // the function starts here
	Counter    int  // index of its counter, or Derived
}

// Program returns the program with that name, or nil.
func (t *Table) Program(name string) *Program { return t.byName[name] }

// later reports whether a block is of a callback that is called later.
func (p *Program) later(b int) bool { return p.Functions[p.Blocks[b].Function].Later != "" }

// Slots returns the positions of the instructions in slots of 8 bytes, by which
// the verifier, bpftool and llvm-objdump number them: a 64-bit load takes two.
func (p *Program) Slots() []int {
	offsets, _ := bytecode.Layout(p.Instructions)
	return offsets
}

// steadyReads is how often counters are read to find that they did not change
// meanwhile.
const steadyReads = 16

// Read returns the counts of a loaded collection as of one moment, if it can:
// while a program keeps running, they may be off by what it is executing.
func (t *Table) Read(coll *ebpf.Collection) (*Counts, error) {
	m, err := counterMap(coll)
	if err != nil {
		return nil, err
	}
	memory, err := m.Memory()
	if err != nil {
		return nil, fmt.Errorf("read counters: %w", err)
	}
	now, next := make([]byte, counterSize*max(1, t.counters)), make([]byte, counterSize*max(1, t.counters))
	for n := 0; n < steadyReads && (n == 0 || !bytes.Equal(now, next)); n++ {
		now, next = next, now
		if _, err := memory.ReadAt(next, 0); err != nil {
			return nil, fmt.Errorf("read counters: %w", err)
		}
	}
	return t.counts(next), nil
}

// Reset sets the counters of a loaded collection to 0. It loses some counts of
// programs that run at the same time.
func (t *Table) Reset(coll *ebpf.Collection) error {
	m, err := counterMap(coll)
	if err != nil {
		return err
	}
	if err := m.Put(uint32(0), make([]uint64, max(1, t.counters))); err != nil {
		return fmt.Errorf("reset counters: %w", err)
	}
	return nil
}

func counterMap(coll *ebpf.Collection) (*ebpf.Map, error) {
	m := coll.Maps[MapName]
	if m == nil {
		return nil, fmt.Errorf("collection has no map %s: it is not instrumented", MapName)
	}
	return m, nil
}

// resolve computes the count of each block from the counters.
func (p *Program) resolve(raw, counts []uint64) {
	for b := range p.Blocks {
		if c := p.Blocks[b].Counter; c != Derived {
			counts[b] = raw[c]
		}
	}
	for _, e := range p.equations {
		if p.Blocks[e.block].Counter == Derived {
			counts[e.block] = e.solve(counts)
		}
	}
}
