//go:build linux

package sideband

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Kind says what happened to a process.
type Kind uint32

// The kinds of events, as PERF_RECORD_* numbers them.
const (
	lost Kind = unix.PERF_RECORD_LOST
	// Named is a thread that gets a name, by itself or because it executes a file.
	Named Kind = unix.PERF_RECORD_COMM
	// Ended is a thread that ends.
	Ended Kind = unix.PERF_RECORD_EXIT
	// Forked is a thread that starts, of a process that exists or of a new one.
	Forked Kind = unix.PERF_RECORD_FORK
	// Mapped is a file, or other memory, that a process maps to execute it.
	Mapped Kind = unix.PERF_RECORD_MMAP2
)

func (k Kind) public() bool { return k == Named || k == Ended || k == Forked || k == Mapped }

// Event is one of them.
type Event struct {
	Kind Kind
	// Time is when it happened, in nanoseconds of CLOCK_MONOTONIC.
	Time uint64
	// PID and TID are the process and thread, as the PID namespace of the reader numbers
	// them; of Forked those that are new. Parent is the process that forked.
	PID, TID, Parent uint32
	// Name is of a Named thread. Exec: it executes a file, so all that was mapped is gone.
	Name string
	Exec bool
	// Mapping is of Mapped.
	Mapping Mapping
	lost    uint64
}

// Mapping is a part of a file in the memory of a process.
type Mapping struct {
	// Start and End are its addresses, the End is not part of it.
	Start, End uint64
	// Offset is where it starts in the file, in bytes.
	Offset uint64
	// Major, Minor and Inode identify the file.
	Major, Minor uint32
	Inode        uint64
	// Path is that of the file as the process sees it, or a name as [vdso] or //anon.
	Path string
}

// header is struct perf_event_header.
type header struct {
	kind Kind
	misc uint16
	size uint16
}

const (
	headerSize = 8
	// sampleID is the size of what follows each record: process, thread, time.
	sampleID = 16
)

func headerOf(raw []byte) header {
	e := binary.NativeEndian
	return header{Kind(e.Uint32(raw)), e.Uint16(raw[4:]), e.Uint16(raw[6:])}
}

// decode decodes a record, as linux/perf_event.h describes them.
func decode(raw []byte) (Event, error) {
	if len(raw) < headerSize+sampleID {
		return Event{}, fmt.Errorf("decode event of %d bytes", len(raw))
	}
	h, end := headerOf(raw), len(raw)-sampleID
	e := Event{Kind: h.kind, Time: binary.NativeEndian.Uint64(raw[end+8:])}
	f := &fields{rest: raw[headerSize:end]}
	switch h.kind {
	case lost:
		f.uint64() // the event that lost them
		e.lost = f.uint64()
	case Named:
		e.PID, e.TID = f.uint32(), f.uint32()
		e.Name, e.Exec = f.text(), h.misc&unix.PERF_RECORD_MISC_COMM_EXEC != 0
	case Forked, Ended:
		e.PID, e.Parent, e.TID = f.uint32(), f.uint32(), f.uint32()
		f.uint32() // the thread that forked
		e.Time = f.uint64()
	case Mapped:
		e.PID, e.TID = f.uint32(), f.uint32()
		m := &e.Mapping
		m.Start = f.uint64()
		m.End = m.Start + f.uint64()
		m.Offset = f.uint64()
		m.Major, m.Minor, m.Inode = f.uint32(), f.uint32(), f.uint64()
		f.uint64() // the generation of the inode
		f.uint64() // protection and flags
		m.Path = f.text()
	}
	if f.short {
		return Event{}, fmt.Errorf("decode event of kind %d: %d bytes are too few", h.kind, len(raw))
	}
	return e, nil
}

// fields takes fields from the start of a record.
type fields struct {
	rest  []byte
	short bool
}

func (f *fields) take(n int) []byte {
	if len(f.rest) < n {
		f.short, f.rest = true, nil
		return make([]byte, n)
	}
	taken := f.rest[:n]
	f.rest = f.rest[n:]
	return taken
}

func (f *fields) uint32() uint32 { return binary.NativeEndian.Uint32(f.take(4)) }
func (f *fields) uint64() uint64 { return binary.NativeEndian.Uint64(f.take(8)) }

// text returns the rest up to the first zero.
func (f *fields) text() string {
	before, _, _ := bytes.Cut(f.rest, []byte{0})
	return string(before)
}

// parseCPUs parses a list such as 0-3,5.
func parseCPUs(text string) (cpus []int, err error) {
	const most = 1 << 16
	for part := range strings.SplitSeq(strings.TrimSpace(text), ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, err1 := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		if err1 != nil || err2 != nil || from < 0 || to < from || to > most {
			return nil, fmt.Errorf("%q is not a list of CPUs", text)
		}
		for cpu := from; cpu <= to; cpu++ {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}
