// Package mutate changes packets and other inputs of programs at random, such that
// programs may take other paths for them. It knows the headers of the usual protocols, so
// that what it makes of a packet gets past the first checks of a program.
package mutate

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
)

// Mutator changes inputs. With the same random numbers it makes the same changes.
type Mutator struct {
	Rand *rand.Rand
	// Longest bounds the frames that it makes, in bytes.
	Longest int
}

// MinFrame is the length of the shortest frame, in bytes.
const MinFrame = ethernetSize

// head is how many bytes at the start of an input most changes are in: programs read
// headers.
const head = 96

// Frame returns a frame that differs from a given one in a few places; it may take parts
// of another.
func (m *Mutator) Frame(frame, other []byte) []byte {
	frame = resize(slices.Clone(frame), max(len(frame), MinFrame))
	for range m.changes() {
		switch m.Rand.IntN(11) {
		case 0, 1, 2:
			m.change(frame, layoutOf(frame).fields)
		case 3, 4, 5:
			frame = m.restructure(frame)
		case 6:
			frame = m.length(frame)
		case 7:
			frame = m.shift(frame)
		case 8:
			m.splice(frame, other)
		default:
			m.Bytes(frame)
		}
		frame = resize(frame, min(max(len(frame), MinFrame), m.Longest))
	}
	return frame
}

// changes returns how many changes to make at once: often one.
func (m *Mutator) changes() int {
	if m.Rand.IntN(3) == 0 {
		return 1
	}
	return 1 << m.Rand.IntN(5)
}

// Bytes changes one to four bytes of data in place, most often of its head.
func (m *Mutator) Bytes(data []byte) {
	if len(data) == 0 {
		return
	}
	at := m.place(data)
	switch m.Rand.IntN(4) {
	case 0:
		data[at] ^= 1 << m.Rand.IntN(8)
	case 1:
		data[at] = byte(m.Rand.Uint32())
	case 2:
		data[at] += byte(m.Rand.IntN(71) - 35)
	case 3:
		m.limit(data[at:min(len(data), at+1<<m.Rand.IntN(3))])
	}
}

func (m *Mutator) place(data []byte) int {
	if m.Rand.IntN(4) != 0 {
		return m.Rand.IntN(min(len(data), head))
	}
	return m.Rand.IntN(len(data))
}

// limits are numbers at which programs decide otherwise.
var limits = []uint32{0, 1, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff}

// limit sets up to four bytes to a limit, in either byte order.
func (m *Mutator) limit(data []byte) {
	v := limits[m.Rand.IntN(len(limits))]
	little, big := binary.LittleEndian.AppendUint32(nil, v), binary.BigEndian.AppendUint32(nil, v)
	if m.Rand.IntN(2) == 0 {
		copy(data, little)
	} else {
		copy(data, big[4-min(4, len(data)):])
	}
}

// change changes a field of a frame.
func (m *Mutator) change(frame []byte, fields []field) {
	if len(fields) == 0 {
		return
	}
	f := fields[m.Rand.IntN(len(fields))]
	b := frame[f.at : f.at+f.size]
	switch m.Rand.IntN(5) {
	case 0:
		m.fill(b)
	case 1:
		clear(b)
	case 2:
		for i := range b {
			b[i] = 0xff
		}
	case 3:
		b[len(b)-1] += byte(m.Rand.IntN(9) - 4)
	case 4:
		b[m.Rand.IntN(len(b))] = byte(m.Rand.Uint32())
	}
}

func (m *Mutator) fill(b []byte) {
	for i := range b {
		b[i] = byte(m.Rand.Uint32())
	}
}

// lengths are usual lengths of frames, and those around headers.
var lengths = []int{14, 15, 18, 34, 42, 54, 60, 64, 74, 82, 96, 128, 256, 512, 590, 1024, 1280, 1400, 1500, 1514}

// length makes a frame longer or shorter at its end.
func (m *Mutator) length(frame []byte) []byte {
	n := len(frame)
	switch m.Rand.IntN(4) {
	case 0:
		n = lengths[m.Rand.IntN(len(lengths))]
	case 1:
		if ends := layoutOf(frame).ends; len(ends) > 0 {
			n = ends[m.Rand.IntN(len(ends))] + m.Rand.IntN(3) - 1
		}
	case 2:
		n += m.Rand.IntN(33) - 16
	case 3:
		n = m.Rand.IntN(m.Longest)
	}
	was := len(frame)
	frame = resize(frame, max(n, MinFrame))
	if len(frame) > was && m.Rand.IntN(2) == 0 {
		m.fill(frame[was:])
	}
	return frame
}

// resize cuts a frame off or appends zeros.
func resize(frame []byte, n int) []byte {
	if n <= len(frame) {
		return frame[:n]
	}
	return append(frame, make([]byte, n-len(frame))...)
}

// shift inserts or removes a few bytes.
func (m *Mutator) shift(frame []byte) []byte {
	at, n := m.place(frame), 1+m.Rand.IntN(8)
	if m.Rand.IntN(2) == 0 {
		return slices.Delete(frame, at, min(at+n, len(frame)))
	}
	b := make([]byte, n)
	if m.Rand.IntN(2) == 0 {
		m.fill(b)
	}
	return slices.Insert(frame, at, b...)
}

// splice copies a part of another frame to where it was there.
func (m *Mutator) splice(frame, other []byte) {
	n := min(len(frame), len(other))
	if n == 0 {
		return
	}
	at := m.Rand.IntN(n)
	size := 1 + m.Rand.IntN(len(other)-at)
	if m.Rand.IntN(2) == 0 {
		size = min(size, 16)
	}
	copy(frame[at:], other[at:at+size])
}
