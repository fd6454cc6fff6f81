package runner

import (
	"fmt"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// fill writes the prepared entries into the collection's maps.
func fill(coll *ebpf.Collection, spec *ebpf.CollectionSpec, preps map[string]bench.MapPrep) error {
	for name, prep := range preps {
		entries, err := encodeEntries(spec.Maps[name], prep.Entries)
		if err != nil {
			return fmt.Errorf("map %s: %w", name, err)
		}
		for _, e := range entries {
			if err := put(coll.Maps[name], e); err != nil {
				return fmt.Errorf("fill map %s: %w", name, err)
			}
		}
	}
	return nil
}

func put(m *ebpf.Map, e entry) error {
	switch m.Type() {
	case ebpf.PerCPUArray, ebpf.PerCPUHash, ebpf.LRUCPUHash:
		cpus, err := ebpf.PossibleCPU()
		if err != nil {
			return err
		}
		values := make([][]byte, cpus)
		for i := range values {
			values[i] = e.value
		}
		return m.Put(e.key, values)
	}
	if len(e.key) == 0 {
		return m.Put(nil, e.value)
	}
	return m.Put(e.key, e.value)
}
