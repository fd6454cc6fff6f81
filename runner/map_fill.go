package runner

import (
	"context"
	"maps"
	"slices"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/object"
)

// countable tells the maps whose entries come and go, and can be counted
// without taking them out.
func countable(t ebpf.MapType) bool { return canRestore(t) && !indexed(t) }

// mapFills are how full the maps are that can be counted, by name: the same in
// each call for the same collection. A map that cannot be read is left out.
func mapFills(coll *ebpf.Collection) []bench.MapFill {
	var fills []bench.MapFill
	for _, name := range slices.Sorted(maps.Keys(coll.Maps)) {
		m := coll.Maps[name]
		if !countable(m.Type()) {
			continue
		}
		n := uint32(0)
		if err := eachKey(context.Background(), m, func([]byte) error { n++; return nil }); err != nil {
			continue
		}
		fills = append(fills, bench.MapFill{Name: name, Type: object.MapTypeName(m.Type()), Entries: n, After: n, Max: m.MaxEntries()})
	}
	return fills
}
