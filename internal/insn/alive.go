package insn

import (
	"fmt"

	"github.com/cilium/ebpf"
)

// Alive reports of each block of each program whether the verifier left it in the loaded
// programs: it removes what no run can reach. Those of callbacks that are called later are
// not alive: runs do not execute them. The collection must have been instrumented
// for that; see Options. Only root may read programs back.
func (t *Table) Alive(coll *ebpf.Collection) ([][]bool, error) {
	m, err := counterMap(coll)
	if err != nil {
		return nil, err
	}
	info, err := m.Info()
	if err != nil {
		return nil, fmt.Errorf("identify counters: %w", err)
	}
	id, _ := info.ID()
	alive := make([][]bool, len(t.Programs))
	for i, p := range t.Programs {
		left, err := countersLeft(coll.Programs[p.Name], id)
		if err != nil {
			return nil, fmt.Errorf("read back program %s: %w", p.Name, err)
		}
		alive[i] = make([]bool, len(p.Blocks))
		for b := range p.Blocks {
			alive[i][b] = left[p.Blocks[b].Counter] && !p.later(b)
		}
	}
	return alive, nil
}

// countersLeft returns the counters whose addresses a loaded program loads, in the map
// with this ID.
func countersLeft(p *ebpf.Program, id ebpf.MapID) (map[int]bool, error) {
	info, err := p.Info()
	if err != nil {
		return nil, err
	}
	insns, err := info.Instructions()
	if err != nil {
		return nil, err
	}
	left := map[int]bool{}
	for i := range insns {
		// The upper half of the constant is the offset in the map.
		if ins := &insns[i]; ins.IsLoadFromMap() && ebpf.MapID(uint32(ins.Constant)) == id {
			left[int(uint64(ins.Constant)>>32)/counterSize] = true
		}
	}
	return left, nil
}
