package dwarf

import (
	"bytes"
	"encoding/binary"
)

// cursor reads a section from a position. Past the end of the section it reads zeroes,
// and is bad.
type cursor struct {
	data  []byte
	at    int
	order binary.ByteOrder
	bad   bool
}

// newCursor returns a cursor at an offset that the file names.
func newCursor(data []byte, at uint64, order binary.ByteOrder) cursor {
	if at > uint64(len(data)) {
		return cursor{data: data, at: len(data), order: order, bad: true}
	}
	return cursor{data: data, at: int(at), order: order}
}

// bytes returns the next n bytes, or nil if there are not as many.
func (c *cursor) bytes(n uint64) []byte {
	if n > uint64(len(c.data)-c.at) {
		c.at, c.bad = len(c.data), true
		return nil
	}
	b := c.data[c.at : c.at+int(n)]
	c.at += int(n)
	return b
}

// uint reads a number of 1, 2, 3, 4 or 8 bytes. No other size is read: it is bad.
func (c *cursor) uint(size int) uint64 {
	b := c.bytes(uint64(size))
	if b == nil {
		return 0
	}
	switch size {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(c.order.Uint16(b))
	case 3:
		if c.order == binary.ByteOrder(binary.BigEndian) {
			return uint64(b[0])<<16 | uint64(b[1])<<8 | uint64(b[2])
		}
		return uint64(b[2])<<16 | uint64(b[1])<<8 | uint64(b[0])
	case 4:
		return uint64(c.order.Uint32(b))
	case 8:
		return c.order.Uint64(b)
	}
	c.bad = true
	return 0
}

// uleb reads an unsigned LEB128 (DWARF 5, 7.6). Bits past the 64th are dropped.
func (c *cursor) uleb() uint64 {
	var n uint64
	for shift := uint(0); c.at < len(c.data); shift += 7 {
		b := c.data[c.at]
		c.at++
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return n
		}
	}
	c.bad = true
	return 0
}

// sleb reads a signed LEB128 (DWARF 5, 7.6).
func (c *cursor) sleb() int64 {
	var n int64
	for shift := uint(0); c.at < len(c.data); {
		b := c.data[c.at]
		c.at++
		n |= int64(b&0x7f) << shift
		shift += 7
		if b < 0x80 {
			if b&0x40 != 0 && shift < 64 {
				n |= -1 << shift
			}
			return n
		}
	}
	c.bad = true
	return 0
}

// length reads the length of a unit, and the size of offsets within it, 4 or 8
// (DWARF 5, 7.4).
func (c *cursor) length() (length uint64, offsetSize int) {
	if n := c.uint(4); n != 0xffffffff {
		return n, 4
	}
	return c.uint(8), 8
}

// skipString skips a string and the zero that ends it.
func (c *cursor) skipString() {
	end := bytes.IndexByte(c.data[c.at:], 0)
	if end < 0 {
		c.at, c.bad = len(c.data), true
		return
	}
	c.at += end + 1
}

// maxText bounds the names and paths that are read, in bytes: many entries can refer to
// one long string.
const maxText = 16 << 10

// text returns the string at an offset of a section, or an empty string.
func text(data []byte, at uint64) string {
	if at >= uint64(len(data)) {
		return ""
	}
	data = data[at:min(at+maxText, uint64(len(data)))]
	end := bytes.IndexByte(data, 0)
	if end < 0 {
		return ""
	}
	return string(data[:end])
}
