package insn

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"

	"github.com/cilium/ebpf"
)

// Meter reads the counters of a loaded collection after each of very many runs, none of
// which may be in progress meanwhile. It resolves them only when it is asked to. It leaves
// out callbacks that are called later, at whatever time that is.
type Meter struct {
	later     []int // their counters
	table     *Table
	memory    *ebpf.Memory
	now, zero []byte
	seed      maphash.Seed
}

// Meter returns a meter of a loaded collection.
func (t *Table) Meter(coll *ebpf.Collection) (*Meter, error) {
	m, err := counterMap(coll)
	if err != nil {
		return nil, err
	}
	memory, err := m.Memory()
	if err != nil {
		return nil, fmt.Errorf("read counters: %w", err)
	}
	size := counterSize * max(1, t.counters)
	r := &Meter{table: t, memory: memory, now: make([]byte, size), zero: make([]byte, size), seed: maphash.MakeSeed()}
	for _, p := range t.Programs {
		for b := range p.Blocks {
			if c := p.Blocks[b].Counter; c != Derived && p.later(b) {
				r.later = append(r.later, c)
			}
		}
	}
	return r, nil
}

// Reset sets the counters to 0.
func (m *Meter) Reset() error {
	if _, err := m.memory.WriteAt(m.zero, 0); err != nil {
		return fmt.Errorf("reset counters: %w", err)
	}
	return nil
}

// Read takes the counters. It returns a digest of them: runs that executed each block
// equally often have the same, of the same meter.
func (m *Meter) Read() (digest uint64, err error) {
	if _, err := m.memory.ReadAt(m.now, 0); err != nil {
		return 0, fmt.Errorf("read counters: %w", err)
	}
	for _, c := range m.later {
		clear(m.now[c*counterSize : (c+1)*counterSize])
	}
	return maphash.Bytes(m.seed, m.now), nil
}

// Counts returns the counts that the latest Read took.
func (m *Meter) Counts() *Counts { return m.table.counts(m.now) }

// counts resolves the bytes of the counters' map.
func (t *Table) counts(counters []byte) *Counts {
	raw := make([]uint64, len(counters)/counterSize)
	_, _ = binary.Decode(counters, binary.NativeEndian, raw)
	c := newCounts(t)
	for p, program := range t.Programs {
		program.resolve(raw, c.blocks[p])
	}
	return c
}
