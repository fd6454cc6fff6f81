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
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/object"
)

// restorer restores a map to its contents at the time the restorer was made.
type restorer struct {
	m    *ebpf.Map
	held []heldEntry
	has  map[string]int // its place in held, by key
}

// heldEntry is a key and a value that the kernel accepts: bytes, or the bytes
// of each CPU.
type heldEntry struct {
	key   []byte
	value any
}

// canRestore reports whether all entries of maps of type t can be read and
// written.
func canRestore(t ebpf.MapType) bool {
	switch t {
	case ebpf.Hash, ebpf.Array, ebpf.PerCPUHash, ebpf.PerCPUArray, ebpf.LRUHash, ebpf.LRUCPUHash, ebpf.LPMTrie:
		return true
	}
	return false
}

// CanReset reports whether a map can be reset to its contents before each slice, and
// otherwise whether it keeps what runs leave there.
func CanReset(m *ebpf.MapSpec) (can, keeps bool) {
	switch {
	case m.Flags&unix.BPF_F_RDONLY_PROG != 0:
		return false, false
	case canRestore(m.Type):
		return true, false
	}
	switch m.Type {
	case ebpf.RingBuf, ebpf.Queue, ebpf.Stack, // emptied anyway
		ebpf.ProgramArray, ebpf.PerfEventArray, ebpf.CGroupArray, ebpf.DevMap, ebpf.DevMapHash, ebpf.CPUMap, ebpf.XSKMap, ebpf.ReusePortSockArray:
		return false, false
	}
	return false, true
}

// maxReset bounds the entries of a map that is reset before each slice: reading
// that many takes longer than nearly all slices.
const maxReset = 1 << 16

var errTooManyToReset = bench.WithHint(fmt.Errorf("it holds more than %d entries, too many to be reset before each slice", maxReset),
	"leave out reset: slice, or put fewer entries into the map; with state: fresh, reset: never leaves one map alone")

func newRestorer(ctx context.Context, m *ebpf.Map) (Emptier, error) {
	r := &restorer{m: m, has: map[string]int{}}
	err := eachKey(ctx, m, func(key []byte) error {
		value, err := readValue(m, key)
		if errors.Is(err, ebpf.ErrKeyNotExist) {
			return nil
		}
		if len(r.held) == maxReset {
			return errTooManyToReset
		}
		r.has[string(key)] = len(r.held)
		r.held = append(r.held, heldEntry{key, value})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read what it holds: %w", err)
	}
	return r, nil
}

// Empty removes new entries and writes the old ones. It skips unchanged
// entries, because writing them would move them in an LRU map.
func (r *restorer) Empty(ctx context.Context) error {
	if !indexed(r.m.Type()) {
		var added [][]byte
		err := eachKey(ctx, r.m, func(key []byte) error {
			if _, ok := r.has[string(key)]; !ok {
				added = append(added, key)
			}
			return nil
		})
		if err != nil {
			return err
		}
		for _, key := range added {
			if err := r.restoreKey(key); err != nil {
				return err
			}
		}
	}
	for _, e := range r.held {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := r.restoreKey(e.key); err != nil {
			return err
		}
	}
	return nil
}

// restoreKey removes a new entry, or writes an old one.
func (r *restorer) restoreKey(key []byte) error {
	i, ok := r.has[string(key)]
	if !ok {
		err := r.m.Delete(key)
		if errors.Is(err, ebpf.ErrKeyNotExist) {
			return nil
		}
		return err
	}
	now, err := readValue(r.m, key)
	if err == nil && reflect.DeepEqual(now, r.held[i].value) {
		return nil
	}
	return r.m.Put(key, r.held[i].value)
}

// Full returns false: a program that fills such a map also does so in use.
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

// eachKey calls fn with each key of a map. It may miss keys that come or go
// meanwhile, and gives up on a map whose keys change all the time.
func eachKey(ctx context.Context, m *ebpf.Map, fn func(key []byte) error) error {
	var last any // nil asks for the first key
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

// countable reports whether entries of maps of type t come and go, and can be
// counted without removing them.
func countable(t ebpf.MapType) bool { return canRestore(t) && !indexed(t) }

// Fills returns how full the countable maps are, by name: the same maps in each
// call for the same collection. It leaves out maps that it cannot read.
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

// Named returns the program's map with this name, or nil if it has none: the
// floor's program has no maps.
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
