package bpfmap

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/testenv"
)

// A snapshot brings each map back to what it held, whatever runs touched of it.
func TestSnapshot(t *testing.T) {
	testenv.Root(t)
	spec := &ebpf.CollectionSpec{Maps: map[string]*ebpf.MapSpec{}}
	for _, m := range []ebpf.MapSpec{
		{Name: "array", Type: ebpf.Array, KeySize: 4, ValueSize: 12, MaxEntries: 4},
		{Name: "long_array", Type: ebpf.Array, KeySize: 4, ValueSize: 12, MaxEntries: mostWatched},
		{Name: "hash", Type: ebpf.Hash, KeySize: 4, ValueSize: 12, MaxEntries: 4},
		{Name: "lru_hash", Type: ebpf.LRUHash, KeySize: 4, ValueSize: 12, MaxEntries: 64},
		{Name: "percpu_array", Type: ebpf.PerCPUArray, KeySize: 4, ValueSize: 12, MaxEntries: 4},
		{Name: "percpu_hash", Type: ebpf.PerCPUHash, KeySize: 4, ValueSize: 12, MaxEntries: 4},
		{Name: "lpm_trie", Type: ebpf.LPMTrie, KeySize: 8, ValueSize: 12, MaxEntries: 4, Flags: 1},
		{Name: "queue", Type: ebpf.Queue, ValueSize: 12, MaxEntries: 4},
		{Name: "full_queue", Type: ebpf.Queue, ValueSize: 12, MaxEntries: 4},
		{Name: "bloom", Type: ebpf.BloomFilter, ValueSize: 12, MaxEntries: 4},
	} {
		spec.Maps[m.Name] = &m
	}
	ShareMemory(spec)
	coll, err := ebpf.NewCollection(spec)
	if err != nil {
		t.Fatal(err)
	}
	defer coll.Close()
	// The first three bytes of an LPM trie's key of 8 bits are ignored.
	key := func(m *ebpf.Map, n byte) []byte {
		switch m.KeySize() {
		case 0:
			return nil
		case 8:
			return []byte{8, 0, 0, 0, n, 1, 2, 3}
		}
		return []byte{n, 0, 0, 0}
	}
	value := func(n byte) []byte { return slices.Repeat([]byte{n}, 12) }
	mustPut := func(m *ebpf.Map, e Entry) {
		t.Helper()
		if err := put(m, e); err != nil {
			t.Fatalf("%v: %v", m, err)
		}
	}
	for name, m := range coll.Maps {
		if name != "queue" && name != "bloom" {
			mustPut(m, Entry{key(m, 1), value(1)})
		}
	}
	s, err := NewSnapshot(t.Context(), coll)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if want := []string{"bloom", "full_queue"}; !slices.Equal(s.Kept, want) {
		t.Errorf("these keep what runs leave: %q, want %q", s.Kept, want)
	}
	holds := func() map[string]string {
		all := map[string]string{}
		for name, m := range coll.Maps {
			var entries []string
			if m.Type() == ebpf.Queue {
				entries = append(entries, fmt.Sprint(m.Lookup(nil, make([]byte, 12))))
			} else if m.Type() != ebpf.BloomFilter {
				for _, n := range []byte{1, 2} {
					v, err := readValue(m, key(m, n))
					entries = append(entries, fmt.Sprint(v, err))
				}
			}
			all[name] = fmt.Sprint(entries)
		}
		return all
	}
	before := holds()
	check := func(what string) {
		t.Helper()
		for name, now := range holds() {
			if now != before[name] {
				t.Errorf("%s: map %s holds %s, want %s", what, name, now, before[name])
			}
		}
	}
	change := func(touch func(name string, key []byte)) {
		for name, m := range coll.Maps {
			if name == "full_queue" || name == "bloom" {
				continue
			}
			for _, n := range []byte{1, 2} {
				mustPut(m, Entry{key(m, n), value(9)})
				touch(name, key(m, n))
			}
		}
		for name, now := range holds() {
			if name != "full_queue" && name != "bloom" && now == before[name] {
				t.Fatalf("map %s did not change", name)
			}
		}
	}
	change(s.Touch)
	if err := s.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	check("touched by key")
	change(func(name string, _ []byte) { s.TouchAll(name) })
	if err := s.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	check("touched as a whole")
	change(func(string, []byte) {})
	if err := s.RestoreAll(t.Context(), mostWatched); err != nil {
		t.Fatal(err)
	}
	check("everything")
	for name, m := range coll.Maps {
		takes := name != "full_queue" && name != "queue" && name != "bloom"
		if got := s.Put(name, Entry{key(m, 2), value(7)}); got != takes || s.Takes(name) != takes {
			t.Errorf("map %s takes an entry: %t, want %t", name, got, takes)
		}
		if v, err := m.LookupBytes(key(m, 2)); takes && m.ValueSize() == 12 && m.Type() == ebpf.Array && (err != nil || !slices.Equal(v, value(7))) {
			t.Errorf("map %s holds %v (%v)", name, v, err)
		}
	}
	if s.Put("array", Entry{[]byte{4, 0, 0, 0}, value(7)}) {
		t.Error("an array takes an element beyond its end")
	}
	if err := s.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	check("put")
}
