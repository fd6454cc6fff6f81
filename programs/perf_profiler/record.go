//go:build linux

package perfprofiler

import (
	"encoding/binary"
	"fmt"
)

// Record is one sample.
type Record struct {
	// Time is when it was taken, in nanoseconds of CLOCK_MONOTONIC.
	Time uint64
	// PID and TID are the process and thread that ran.
	PID, TID uint32
	// Stack is the user stack as addresses, innermost first. It is empty when
	// the sample hit a kernel thread.
	Stack []uint64
}

// header is struct record up to its stack.
type header struct {
	Time     uint64
	PID, TID uint32
	StackLen uint64
}

const addrSize = 8

func decode(raw []byte) (Record, error) {
	var h header
	n, err := binary.Decode(raw, binary.NativeEndian, &h)
	if err != nil {
		return Record{}, fmt.Errorf("decode record of %d bytes: %w", len(raw), err)
	}
	raw = raw[n:]
	if h.StackLen%addrSize != 0 || h.StackLen > uint64(len(raw)) {
		return Record{}, fmt.Errorf("decode record: stack of %d bytes in %d", h.StackLen, len(raw))
	}
	r := Record{Time: h.Time, PID: h.PID, TID: h.TID, Stack: make([]uint64, h.StackLen/addrSize)}
	if _, err := binary.Decode(raw, binary.NativeEndian, r.Stack); err != nil {
		return Record{}, fmt.Errorf("decode stack: %w", err)
	}
	return r, nil
}
