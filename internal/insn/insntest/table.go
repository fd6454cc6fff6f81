package insntest

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// table is a map. A per-CPU map has one value for all CPUs, as if there were
// only one.
type table struct {
	name               string
	typ                ebpf.MapType
	handle             uint64
	keySize, valueSize int
	maxEntries         uint64
	flags              uint32

	array    uint64 // where the elements of an array start, 0 before the first use
	hash     map[string]uint64
	programs map[uint32]*program
	inner    map[string]*table
	queue    [][]byte
	ring     uint64 // bytes that records have taken
	initial  []ebpf.MapKV
	unknown  string // how it differs from the kernel's
}

func (m *Machine) addTable(spec *ebpf.MapSpec) *table {
	t := &table{
		name: spec.Name, typ: spec.Type, handle: mapHandle | uint64(len(m.byHandle)),
		keySize: int(spec.KeySize), valueSize: int(spec.ValueSize), maxEntries: uint64(spec.MaxEntries), flags: spec.Flags,
		hash: map[string]uint64{}, programs: map[uint32]*program{}, inner: map[string]*table{},
	}
	if strings.HasPrefix(spec.Name, ".kconfig") {
		t.unknown = "the kernel's configuration"
	}
	m.byHandle = append(m.byHandle, t)
	return t
}

// fill puts the object's contents into a map.
func (m *Machine) fill(t *table, spec *ebpf.CollectionSpec) error {
	for _, kv := range spec.Maps[t.name].Contents {
		name, isName := kv.Value.(string)
		index, isIndex := kv.Key.(uint32)
		switch {
		case isName && isIndex && t.typ == ebpf.ProgramArray:
			if p := m.programs[name]; p != nil {
				t.programs[index] = p
			}
		case isName && isIndex && m.maps[name] != nil:
			key := make([]byte, 4)
			binary.NativeEndian.PutUint32(key, index)
			t.inner[string(key)] = m.maps[name]
		default:
			t.initial = append(t.initial, kv)
		}
	}
	return nil
}

func (r *run) table(handle uint64) (*table, error) {
	i := handle &^ mapHandle
	if handle&mapHandle == 0 || i >= uint64(len(r.byHandle)) {
		return nil, fault("%#x is not a map", handle)
	}
	t := r.byHandle[i]
	if t.unknown != "" {
		return nil, unsupported("%s", t.unknown)
	}
	return t, nil
}

func (t *table) isArray() bool { return t.typ == ebpf.Array || t.typ == ebpf.PerCPUArray }

func (t *table) isHash() bool {
	switch t.typ {
	case ebpf.Hash, ebpf.PerCPUHash, ebpf.LRUHash, ebpf.LRUCPUHash:
		return true
	}
	return false
}

// isHollow reports whether the map holds things that only the kernel has, so
// nothing here.
func (t *table) isHollow() bool {
	switch t.typ {
	case ebpf.DevMap, ebpf.DevMapHash, ebpf.CPUMap, ebpf.XSKMap:
		return true
	}
	return false
}

func (t *table) stride() int { return (t.valueSize + 7) &^ 7 }

// elements returns the address of the elements of an array.
func (t *table) elements(m *memory) (uint64, error) {
	switch {
	case t.array != 0:
		return t.array, nil
	case !t.isArray():
		return 0, unsupported("the values of a map of type %s", t.typ)
	case t.unknown != "":
		return 0, unsupported("%s", t.unknown)
	case t.stride() > maxPiece || t.maxEntries > maxPiece/uint64(max(t.stride(), 1)):
		return 0, unsupported("an array of more than %d bytes", maxPiece)
	}
	addr, err := m.alloc(int(t.maxEntries) * t.stride())
	if err != nil {
		return 0, err
	}
	for _, kv := range t.initial {
		index, ok := kv.Key.(uint32)
		value, isBytes := kv.Value.([]byte)
		if !ok || !isBytes || uint64(index) >= t.maxEntries || len(value) > t.valueSize {
			return 0, unsupported("the initial values of map %s", t.name)
		}
		b, err := m.bytes(addr+uint64(index)*uint64(t.stride()), len(value))
		if err != nil {
			return 0, err
		}
		copy(b, value)
	}
	t.array = addr
	return addr, nil
}

// lookup returns the address of the value of a key, or 0.
func (t *table) lookup(m *memory, key []byte) (uint64, error) {
	switch {
	case len(key) != t.keySize:
		return 0, fault("a key of %d bytes", len(key))
	case t.isArray():
		base, err := t.elements(m)
		if err != nil || len(key) != 4 {
			return 0, err
		}
		index := uint64(binary.NativeEndian.Uint32(key))
		if index >= t.maxEntries {
			return 0, nil
		}
		return base + index*uint64(t.stride()), nil
	case len(t.initial) > 0:
		return 0, unsupported("the initial values of map %s", t.name)
	case t.isHash():
		return t.hash[string(key)], nil
	case t.typ == ebpf.LPMTrie && len(t.hash) == 0, t.isHollow():
		return 0, nil
	case t.typ == ebpf.HashOfMaps || t.typ == ebpf.ArrayOfMaps:
		if inner := t.inner[string(key)]; inner != nil {
			return inner.handle, nil
		}
		return 0, nil
	}
	return 0, unsupported("a lookup in a map of type %s", t.typ)
}

// update sets a value. It returns a replaced one, because pointers to it stay
// valid.
func (t *table) update(m *memory, key, value []byte, flags uint64) (code, replaced uint64, err error) {
	addr, err := t.lookup(m, key)
	if err != nil {
		return 0, 0, err
	}
	switch {
	case !t.isArray() && !t.isHash():
		return 0, 0, unsupported("an update of a map of type %s", t.typ)
	case flags > uint64(ebpf.UpdateExist):
		return 0, 0, unsupported("an update with flags %#x", flags)
	case t.isArray() && addr == 0:
		return errno(unix.E2BIG), 0, nil
	case addr != 0 && flags == uint64(ebpf.UpdateNoExist):
		return errno(unix.EEXIST), 0, nil
	case addr == 0 && flags == uint64(ebpf.UpdateExist):
		return errno(unix.ENOENT), 0, nil
	case addr == 0 && uint64(len(t.hash)) >= t.maxEntries:
		if t.typ == ebpf.LRUHash || t.typ == ebpf.LRUCPUHash {
			return 0, 0, unsupported("what a full map of type %s forgets", t.typ)
		}
		return errno(unix.E2BIG), 0, nil
	case t.isHash() && (addr == 0 || t.typ == ebpf.Hash || t.typ == ebpf.LRUHash):
		replaced = addr
		if addr, err = m.alloc(t.stride()); err != nil {
			return 0, 0, err
		}
		t.hash[string(key)] = addr
	}
	b, err := m.bytes(addr, len(value))
	copy(b, value)
	return 0, replaced, err
}

// remove removes a key, and returns the address of its value.
func (t *table) remove(key []byte) (code, removed uint64, err error) {
	switch {
	case t.isArray():
		return errno(unix.EINVAL), 0, nil
	case !t.isHash() || len(t.initial) > 0:
		return 0, 0, unsupported("a deletion from a map of type %s", t.typ)
	}
	addr := t.hash[string(key)]
	if addr == 0 {
		return errno(unix.ENOENT), 0, nil
	}
	delete(t.hash, string(key))
	return 0, addr, nil
}

// push and pop handle a queue or a stack.
func (t *table) push(value []byte, flags uint64) uint64 {
	if flags&^unix.BPF_EXIST != 0 {
		return errno(unix.EINVAL)
	}
	if uint64(len(t.queue)) >= t.maxEntries {
		if flags == 0 || len(t.queue) == 0 {
			return errno(unix.E2BIG)
		}
		t.take(true)
	}
	t.queue = append(t.queue, slices.Clone(value))
	return 0
}

func (t *table) pop(value []byte, keep bool) uint64 {
	if len(t.queue) == 0 {
		clear(value)
		return errno(unix.ENOENT)
	}
	oldest := t.typ == ebpf.Queue
	if keep {
		copy(value, t.queue[map[bool]int{false: len(t.queue) - 1}[oldest]])
		return 0
	}
	copy(value, t.take(oldest))
	return 0
}

func (t *table) take(oldest bool) (value []byte) {
	if oldest {
		value, t.queue = t.queue[0], t.queue[1:]
		return value
	}
	last := len(t.queue) - 1
	value, t.queue = t.queue[last], t.queue[:last]
	return value
}

const (
	recordHeader = 8
	maxRecord    = 1<<30 - 1
)

// reserve takes room in a ring buffer that nobody reads.
func (t *table) reserve(size uint64) bool {
	need := (size + recordHeader + 7) &^ 7
	if size > maxRecord || need > t.maxEntries || t.ring+need > t.maxEntries-1 {
		return false
	}
	t.ring += need
	return true
}
