package insn

import "slices"

// Counts holds how often each block of each program of a collection was
// executed, up to a moment or, by Sub, between two.
type Counts struct {
	table  *Table
	blocks [][]uint64 // by program and block
}

func newCounts(t *Table) *Counts {
	c := &Counts{table: t, blocks: make([][]uint64, len(t.Programs))}
	for p := range t.Programs {
		c.blocks[p] = make([]uint64, len(t.Programs[p].Blocks))
	}
	return c
}

// Sub returns the counts since before, which must be of the same table.
func (c *Counts) Sub(before *Counts) *Counts {
	return c.combine(before, func(a, b uint64) uint64 { return a - b })
}

// Add returns the sum of two counts of the same table.
func (c *Counts) Add(other *Counts) *Counts {
	return c.combine(other, func(a, b uint64) uint64 { return a + b })
}

func (c *Counts) combine(other *Counts, f func(a, b uint64) uint64) *Counts {
	combined := newCounts(c.table)
	for p := range c.blocks {
		for b := range c.blocks[p] {
			combined.blocks[p][b] = f(c.blocks[p][b], other.blocks[p][b])
		}
	}
	return combined
}

// Equal reports whether both executed every block equally often. Both must be
// of the same programs.
func (c *Counts) Equal(other *Counts) bool {
	return slices.EqualFunc(c.blocks, other.blocks, slices.Equal)
}

// Whole reports whether the counts are those of whole runs: as much flows into each
// point of a program as out of it. It sees that of programs with a counter in every
// block. In part of a run that was in progress, blocks are missing.
func (c *Counts) Whole() bool {
	for p, counts := range c.blocks {
		for _, e := range c.table.Programs[p].equations {
			if counts[e.block] != e.solve(counts) {
				return false
			}
		}
	}
	return true
}

// Executed returns how many BPF instructions runs of a program executed. It
// excludes those of programs that it tail called, and those of callbacks that are
// called later. A 64-bit load is one instruction.
func (c *Counts) Executed(program string) uint64 {
	p, counts := c.of(program)
	var n uint64
	for b := range counts {
		if block := &p.Blocks[b]; !p.later(b) {
			n += counts[b] * uint64(block.End-block.Start)
		}
	}
	return n
}

// Total returns how many BPF instructions runs of all programs of the collection
// executed, without those of callbacks that are called later.
func (c *Counts) Total() uint64 {
	var n uint64
	for _, p := range c.table.Programs {
		n += c.Executed(p.Name)
	}
	return n
}

// Runs returns how often a program was entered, by its hook or by a tail call,
// including its own.
func (c *Counts) Runs(program string) uint64 {
	_, counts := c.of(program)
	if len(counts) == 0 {
		return 0
	}
	return counts[0] // the first block is the entry of the first function
}

// Instructions returns how often each of the program's Instructions was executed.
func (c *Counts) Instructions(program string) []uint64 {
	p, counts := c.of(program)
	if p == nil {
		return nil
	}
	all := make([]uint64, len(p.Instructions))
	for b := range counts {
		for i := p.Blocks[b].Start; i < p.Blocks[b].End; i++ {
			all[i] = counts[b]
		}
	}
	return all
}

// Blocks returns how often each block was executed, by program and block of the table. It
// must not be changed.
func (c *Counts) Blocks() [][]uint64 { return c.blocks }

// of returns a program and the counts of its blocks, or nil if it is not in the
// collection.
func (c *Counts) of(program string) (*Program, []uint64) {
	for i, p := range c.table.Programs {
		if p.Name == program {
			return p, c.blocks[i]
		}
	}
	return nil, nil
}
