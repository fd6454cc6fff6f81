package insntest

import "encoding/binary"

// An address has the number of a region in its upper half, and in the lower an
// offset from the middle, so that a pointer may stray before its region and
// come back.
const middle = 1 << 31

// Handles are values that programs hold but cannot look into.
const (
	mapHandle  = 1 << 62
	codeHandle = 1 << 61
)

// region is memory that a program may touch from lo to hi.
type region struct {
	data   []byte
	lo, hi int
	// context says that fields are computed: there is no memory behind it.
	context bool
}

// memory is everything that pointers can point to. Region 0 is never used.
type memory struct {
	regions []*region
	free    []uint64
}

// A program can allocate a limited number of pieces of a limited size.
const (
	maxRegions = 1 << 20
	maxPiece   = 64 << 20
)

func (m *memory) add(r *region) (uint64, error) {
	if n := len(m.free); n > 0 {
		id := m.free[n-1]
		m.free = m.free[:n-1]
		m.regions[id] = r
		return id<<32 + middle, nil
	}
	if len(m.regions) >= maxRegions {
		return 0, unsupported("more than %d pieces of memory", maxRegions)
	}
	if len(m.regions) == 0 {
		m.regions = append(m.regions, nil)
	}
	m.regions = append(m.regions, r)
	return uint64(len(m.regions)-1)<<32 + middle, nil
}

// alloc makes a region of zeroes and returns the address of its start.
func (m *memory) alloc(size int) (uint64, error) {
	if size < 0 || size > maxPiece {
		return 0, unsupported("a piece of memory of %d bytes", size)
	}
	return m.add(&region{data: make([]byte, size), hi: size})
}

// release frees the region that contains an address.
func (m *memory) release(addr uint64) {
	if id := addr >> 32; id > 0 && id < uint64(len(m.regions)) && m.regions[id] != nil {
		m.regions[id] = nil
		m.free = append(m.free, id)
	}
}

// at returns the region of an address, and the offset in it.
func (m *memory) at(addr uint64) (*region, int, error) {
	id := addr >> 32
	if id == 0 || id >= uint64(len(m.regions)) || m.regions[id] == nil {
		return nil, 0, fault("address %#x points nowhere", addr)
	}
	return m.regions[id], int(uint32(addr)) - middle, nil
}

// bytes are size bytes of memory at an address.
func (m *memory) bytes(addr uint64, size int) ([]byte, error) {
	if size == 0 {
		return nil, nil
	}
	r, off, err := m.at(addr)
	switch {
	case err != nil:
		return nil, err
	case r.context:
		return nil, unsupported("the context as plain memory")
	case size < 0, off < r.lo, off > r.hi-size:
		return nil, fault("%d bytes at %d of memory from %d to %d", size, off, r.lo, r.hi)
	}
	return r.data[off : off+size : off+size], nil
}

func load(b []byte) uint64 {
	switch len(b) {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.NativeEndian.Uint16(b))
	case 4:
		return uint64(binary.NativeEndian.Uint32(b))
	}
	return binary.NativeEndian.Uint64(b)
}

func store(b []byte, v uint64) {
	switch len(b) {
	case 1:
		b[0] = byte(v)
	case 2:
		binary.NativeEndian.PutUint16(b, uint16(v))
	case 4:
		binary.NativeEndian.PutUint32(b, uint32(v))
	default:
		binary.NativeEndian.PutUint64(b, v)
	}
}

// extend copies the sign of a value of some bytes into the bits above.
func extend(v uint64, size int) uint64 {
	shift := 64 - 8*size
	return uint64(int64(v<<shift) >> shift)
}
