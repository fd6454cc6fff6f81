// Package bpfmap manages the contents of maps: it turns a suite's values for
// maps and global variables into bytes, writes them, and removes between slices
// what runs left behind.
package bpfmap

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/object"
	"github.com/org/ebpf-bench-action/internal/strictyaml"
)

// Entry is a key and value in the kernel's bytes; a queue's key is nil.
type Entry struct{ Key, Value []byte }

// Prepare turns a suite's values for maps into entries, by the map's name. It
// refuses maps that the program does not use, and entries that do not fit. It
// fills arrays of programs in the spec, with programs of the object.
func Prepare(o *object.Object, spec *ebpf.CollectionSpec, preps map[string]bench.MapPrep, readFile func(string) ([]byte, error)) (map[string][]Entry, error) {
	all := map[string][]Entry{}
	for _, name := range slices.Sorted(maps.Keys(preps)) {
		m, prep := spec.Maps[name], preps[name]
		if m == nil {
			names := slices.Sorted(maps.Keys(spec.Maps))
			return nil, fmt.Errorf("the program uses no map %q%s: it uses %s", name, strictyaml.DidYouMean(name, names), listed(names))
		}
		if prep.Reset == bench.ResetSlice && !canEmpty(m.Type) && !canRestore(m.Type) {
			return nil, fmt.Errorf("map %s is of type %s, which cannot be reset: not all of its content can be read", name, object.MapTypeName(m.Type))
		}
		if m.Type == ebpf.ProgramArray {
			if err := fillWithPrograms(o, spec, m, prep); err != nil {
				return nil, fmt.Errorf("map %s: %w", name, err)
			}
			continue
		}
		entries, err := entriesFor(m, prep, readFile)
		if err != nil {
			return nil, fmt.Errorf("map %s: %w", name, err)
		}
		if len(entries) > 0 && !holdsBytes(m.Type) {
			return nil, fmt.Errorf("map %s is of type %s: it holds programs, maps, sockets or the like, which a suite cannot give", name, object.MapTypeName(m.Type))
		}
		if len(entries) > 0 && prep.Reset == bench.ResetSlice && canEmpty(m.Type) {
			return nil, fmt.Errorf("map %s is of type %s, which cannot be reset to its entries: leave out reset, or the entries", name, object.MapTypeName(m.Type))
		}
		n := len(entries)
		if indexed(m.Type) { // has all of them from the start
			n = int(m.MaxEntries)
		}
		if prep.Reset == bench.ResetSlice && n > maxReset {
			return nil, fmt.Errorf("map %s: %w", name, errTooManyToReset)
		}
		all[name] = entries
	}
	return all, nil
}

// holdsBytes reports whether maps of type t hold the values written to them.
// Others hold file descriptors, for which a number in a suite has no meaning.
func holdsBytes(t ebpf.MapType) bool {
	return canRestore(t) || t == ebpf.Queue || t == ebpf.Stack || t == ebpf.BloomFilter
}

// entriesFor returns the entries of a file, the generated ones and those that
// the suite spells out, in this order: later ones replace earlier ones.
func entriesFor(m *ebpf.MapSpec, prep bench.MapPrep, readFile func(string) ([]byte, error)) ([]Entry, error) {
	var all []Entry
	if prep.File != "" {
		data, err := readFile(prep.File)
		if err != nil {
			return nil, err
		}
		if all, err = parseEntries(m, data); err != nil {
			return nil, fmt.Errorf("file %s: %w", prep.File, err)
		}
	}
	if prep.Generate != nil {
		entries, err := generateEntries(m, prep.Generate)
		if err != nil {
			return nil, err
		}
		all = append(all, entries...)
	}
	for i, e := range prep.Entries {
		one, err := encodeEntry(m, e)
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", i+1, err)
		}
		all = append(all, one)
	}
	if n := occupied(m, all); m.MaxEntries > 0 && n > uint64(m.MaxEntries) && !evicts(m.Type) {
		return nil, fmt.Errorf("%d entries are more than the %d that it has room for", n, m.MaxEntries)
	}
	return all, nil
}

// evicts reports whether maps of type t always take another entry: they evict
// an old one, or share its bits.
func evicts(t ebpf.MapType) bool {
	return t == ebpf.LRUHash || t == ebpf.LRUCPUHash || t == ebpf.BloomFilter
}

// occupied returns how many entries the map holds once all are written: those
// with the same key are one.
func occupied(m *ebpf.MapSpec, all []Entry) uint64 {
	if m.KeySize == 0 {
		return uint64(len(all))
	}
	keys := map[string]bool{}
	for _, e := range all {
		key := e.Key
		if m.Type == ebpf.LPMTrie {
			key = prefixOf(key)
		}
		keys[string(key)] = true
	}
	return uint64(len(keys))
}

// prefixOf returns the key of an LPM trie without the bits behind its prefix,
// which the kernel ignores.
func prefixOf(key []byte) []byte {
	key = slices.Clone(key)
	bits := uint64(binary.NativeEndian.Uint32(key))
	for i := range key[4:] {
		if rest := max(int64(bits)-8*int64(i), 0); rest < 8 {
			key[4+i] &^= 0xff >> rest
		}
	}
	return key
}

func encodeEntry(m *ebpf.MapSpec, e bench.MapEntry) (out Entry, err error) {
	if e.Program != "" {
		return out, errors.New("the map holds no programs: give a value")
	}
	if m.KeySize > 0 {
		if out.Key, err = encodeValue(e.Key, int(m.KeySize)); err != nil {
			return out, fmt.Errorf("key: %w", err)
		}
		if indexed(m.Type) && m.MaxEntries > 0 && binary.NativeEndian.Uint32(out.Key) >= m.MaxEntries {
			return out, fmt.Errorf("no index %d: the last is %d", binary.NativeEndian.Uint32(out.Key), m.MaxEntries-1)
		}
	} else if e.Key != nil {
		return out, fmt.Errorf("it has a key, which a %s does not take", object.MapTypeName(m.Type))
	}
	if out.Value, err = encodeValue(e.Value, int(m.ValueSize)); err != nil {
		return out, fmt.Errorf("value: %w", err)
	}
	return out, nil
}

// generateEntries generates entries, the same ones each time.
func generateEntries(m *ebpf.MapSpec, g *bench.GeneratedEntries) ([]Entry, error) {
	if m.MaxEntries > 0 && uint64(g.Count) > uint64(m.MaxEntries) && !evicts(m.Type) {
		return nil, fmt.Errorf("%d generated entries are more than the %d that it has room for", g.Count, m.MaxEntries)
	}
	switch {
	case indexed(m.Type) && g.Keys == bench.PatternRandom:
		return nil, errors.New("its keys are indices, which are numbered and not random")
	case m.KeySize == 0 && g.Keys == bench.PatternRandom:
		return nil, fmt.Errorf("a %s has no keys: values can be random", object.MapTypeName(m.Type))
	case m.Type == ebpf.LPMTrie:
		return nil, errors.New("its keys begin with the length of a prefix, which is not made up: give the entries, or a file")
	}
	if m.KeySize > 0 && m.KeySize < 4 && g.Count > 1<<(8*m.KeySize) {
		return nil, fmt.Errorf("its keys have %d bytes, too few for %d different ones", m.KeySize, g.Count)
	}
	seed := fnv.New64a()
	seed.Write([]byte(m.Name))
	source := rand.NewChaCha8([32]byte(binary.LittleEndian.AppendUint64(make([]byte, 24), seed.Sum64())))
	entries := make([]Entry, g.Count)
	seen := map[string]bool{}
	for i := range entries {
		key := pattern(g.Keys, int(m.KeySize), i, source)
		for g.Keys == bench.PatternRandom && seen[string(key)] {
			key = pattern(g.Keys, int(m.KeySize), i, source)
		}
		seen[string(key)] = true
		entries[i] = Entry{key, pattern(g.Values, int(m.ValueSize), i, source)}
	}
	if m.KeySize == 0 {
		for i := range entries {
			entries[i].Key = nil
		}
	}
	return entries, nil
}

// pattern returns the i-th of the generated keys or values.
func pattern(p bench.Pattern, size, i int, source *rand.ChaCha8) []byte {
	b := make([]byte, size)
	switch p {
	case bench.PatternNumbered:
		copy(b, binary.NativeEndian.AppendUint32(nil, uint32(i)))
	case bench.PatternRandom:
		_, _ = source.Read(b) // it never fails
	}
	return b
}

// indexed reports whether the keys of maps of type t are the numbers below
// their size.
func indexed(t ebpf.MapType) bool { return t == ebpf.Array || t == ebpf.PerCPUArray }

// Fill writes entries into the collection's maps.
func Fill(ctx context.Context, coll *ebpf.Collection, all map[string][]Entry) error {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for i, e := range all[name] {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := put(coll.Maps[name], e); err != nil {
				return fmt.Errorf("fill map %s: entry %d of %d: %w", name, i+1, len(all[name]), err)
			}
		}
	}
	return nil
}

func put(m *ebpf.Map, e Entry) error {
	switch m.Type() {
	case ebpf.PerCPUArray, ebpf.PerCPUHash, ebpf.LRUCPUHash:
		cpus, err := ebpf.PossibleCPU()
		if err != nil {
			return err
		}
		values := make([][]byte, cpus)
		for i := range values {
			values[i] = e.Value
		}
		return m.Put(e.Key, values)
	}
	if len(e.Key) == 0 {
		return m.Put(nil, e.Value)
	}
	return m.Put(e.Key, e.Value)
}
