package bpfmap

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/object"
)

// restorer gives a map back what it held when the restorer was made.
type restorer struct {
	m    *ebpf.Map
	held []heldEntry
	has  map[string]bool
}

// heldEntry is a key with what the kernel takes back as its value: bytes, or
// those of each CPU.
type heldEntry struct {
	key   []byte
	value any
}

// canRestore tells the maps all of whose entries can be read and written.
func canRestore(t ebpf.MapType) bool {
	switch t {
	case ebpf.Hash, ebpf.Array, ebpf.PerCPUHash, ebpf.PerCPUArray, ebpf.LRUHash, ebpf.LRUCPUHash, ebpf.LPMTrie:
		return true
	}
	return false
}

// maxReset bounds the entries of a map that is reset before each slice: to read
// so many takes longer than nearly all slices.
const maxReset = 1 << 16

var errTooManyToReset = bench.WithHint(fmt.Errorf("it holds more than %d entries, too many to be reset before each slice", maxReset),
	"leave out reset: slice, or put fewer entries into the map")

func newRestorer(ctx context.Context, m *ebpf.Map) (Emptier, error) {
	r := &restorer{m: m, has: map[string]bool{}}
	err := eachKey(ctx, m, func(key []byte) error {
		value, err := readValue(m, key)
		if errors.Is(err, ebpf.ErrKeyNotExist) {
			return nil
		}
		if len(r.held) == maxReset {
			return errTooManyToReset
		}
		r.held = append(r.held, heldEntry{key, value})
		r.has[string(key)] = true
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read what it holds: %w", err)
	}
	return r, nil
}

// Empty takes out what came since, and writes what was there. An entry that is
// as it was is not written: that would move it in an LRU map.
func (r *restorer) Empty(ctx context.Context) error {
	if !indexed(r.m.Type()) {
		var added [][]byte
		err := eachKey(ctx, r.m, func(key []byte) error {
			if !r.has[string(key)] {
				added = append(added, key)
			}
			return nil
		})
		if err != nil {
			return err
		}
		for _, key := range added {
			if err := r.m.Delete(key); err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) {
				return err
			}
		}
	}
	for _, e := range r.held {
		if err := ctx.Err(); err != nil {
			return err
		}
		now, err := readValue(r.m, e.key)
		if err == nil && reflect.DeepEqual(now, e.value) {
			continue
		}
		if err := r.m.Put(e.key, e.value); err != nil {
			return err
		}
	}
	return nil
}

// Full is never: a program that fills such a map does so in use, too.
func (r *restorer) Full() (bool, error) { return false, nil }

func (r *restorer) Close() error { return nil }

func readValue(m *ebpf.Map, key []byte) (any, error) {
	switch m.Type() {
	case ebpf.PerCPUHash, ebpf.PerCPUArray, ebpf.LRUCPUHash:
		var values [][]byte
		err := m.Lookup(key, &values)
		return values, err
	}
	return m.LookupBytes(key)
}

// eachKey calls fn with each key of a map. Keys that come or go meanwhile may
// be missed, and a map whose keys change all the time is given up.
func eachKey(ctx context.Context, m *ebpf.Map, fn func(key []byte) error) error {
	var last any // nil asks for the first
	for range uint64(m.MaxEntries()) + 1 {
		if err := ctx.Err(); err != nil {
			return err
		}
		key, err := m.NextKeyBytes(last)
		if err != nil || key == nil {
			return err
		}
		last = key
		if err := fn(key); err != nil {
			return err
		}
	}
	return nil
}

// countable tells the maps whose entries come and go, and can be counted
// without taking them out.
func countable(t ebpf.MapType) bool { return canRestore(t) && !indexed(t) }

// Fills are how full the maps are that can be counted, by name: the same in
// each call for the same collection. A map that cannot be read is left out.
func Fills(coll *ebpf.Collection) []bench.MapFill {
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

// Named is the program's map of a name, nil where it has none of it: the floor's
// program has no maps.
func Named(p *ebpf.Program, name string) (*ebpf.Map, error) {
	info, err := p.Info()
	if err != nil {
		return nil, err
	}
	ids, _ := info.MapIDs()
	for _, id := range ids {
		m, err := ebpf.NewMapFromID(id)
		if err != nil {
			return nil, err
		}
		if info, err := m.Info(); err == nil && info.Name != "" && strings.HasPrefix(name, info.Name) {
			return m, nil
		}
		m.Close()
	}
	return nil, nil
}
