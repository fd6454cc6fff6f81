package baseline

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Binary data are whole numbers as varints, blocks with their length before
// them, and floats of 8 bytes, little-endian.

func appendBlock[T ~string | ~[]byte](b []byte, block T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(block))), block...)
}

func appendFloat(b []byte, v float64) []byte {
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
}

var errShort = errors.New("the data end too early")

// reader reads binary data. After an error, which it keeps, it reads zeros.
type reader struct {
	data []byte
	err  error
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.data = nil
}

// number reads a number of no more than limit.
func (r *reader) number(what string, limit int) int {
	v, n := binary.Uvarint(r.data)
	switch {
	case r.err != nil:
		return 0
	case n <= 0:
		r.fail(errShort)
		return 0
	case v > uint64(limit):
		r.fail(fmt.Errorf("%d %s are more than the %d that are plausible", v, what, limit))
		return 0
	// What is stored has one spelling, or digests would say nothing.
	case n > 1 && r.data[n-1] == 0:
		r.fail(fmt.Errorf("the number of %s is misspelt", what))
		return 0
	}
	r.data = r.data[n:]
	return int(v)
}

// block reads a block, which stays part of the data.
func (r *reader) block(limit int) []byte {
	return r.take(r.number("bytes", limit))
}

// take reads n bytes.
func (r *reader) take(n int) []byte {
	if r.err != nil || n > len(r.data) {
		r.fail(errShort)
		return nil
	}
	b := r.data[:n:n]
	r.data = r.data[n:]
	return b
}

// end checks that nothing follows.
func (r *reader) end() error {
	if r.err == nil && len(r.data) > 0 {
		r.fail(fmt.Errorf("%d bytes follow the data", len(r.data)))
	}
	return r.err
}

func floatAt(b []byte, i int) float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
}

func appendNumber(b []byte, n int) []byte { return binary.AppendUvarint(b, uint64(n)) }
