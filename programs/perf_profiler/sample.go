//go:build linux

package perfprofiler

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// Sample is what a thread was found to do, or has done.
type Sample struct {
	Kind Kind
	// Time is when it ended, and NS how long it took, in nanoseconds of CLOCK_MONOTONIC. NS
	// is 0 for CPU, and for a Fault whose source does not know it.
	Time, NS uint64
	// PID and TID are the process and thread as the initial PID namespace numbers them; Comm
	// is the name of the thread.
	PID, TID uint32
	Comm     string
	// Kernel and User are its stacks as addresses, innermost first.
	Kernel, User []uint64
	// Preempted: an OffCPU thread that could have run.
	Preempted bool
	// Device, as the kernel numbers it (major<<20 | minor), Sector, Bytes and Write are of a
	// Disk request.
	Device uint32
	Sector uint64
	Bytes  uint32
	Write  bool
	// Address is where a Fault happened. It is 0 where its source does not know it.
	Address uint64
	// FromFile: the Fault was for a page of a file. Only handle_mm_fault knows.
	FromFile bool
}

// sampleHeader is the size of struct sample up to its stacks, in bytes.
const sampleHeader = 72

// MaxStack is how many addresses a stack has at most, of the kernel and of user space each.
const MaxStack = 127

func decodeSample(raw []byte) (Sample, error) {
	var s eventsSample
	if len(raw) < sampleHeader || len(raw) > binary.Size(s) {
		return Sample{}, fmt.Errorf("decode sample: %d bytes", len(raw))
	}
	whole := make([]byte, binary.Size(s))
	copy(whole, raw)
	if _, err := binary.Decode(whole, binary.NativeEndian, &s); err != nil {
		return Sample{}, fmt.Errorf("decode sample: %w", err)
	}
	kernel, user := uint64(s.KernelLen), uint64(s.UserLen)
	if s.Kind >= uint32(len(attach)) || kernel%addrSize != 0 || user%addrSize != 0 || sampleHeader+kernel+user > uint64(len(raw)) {
		return Sample{}, fmt.Errorf("decode sample of kind %d: stacks of %d and %d bytes in %d", s.Kind, kernel, user, len(raw))
	}
	return s.export(), nil
}

func (s *eventsSample) export() Sample {
	const flag = 1 // of each kind
	kernel, user := s.KernelLen/addrSize, s.UserLen/addrSize
	out := Sample{
		Kind: Kind(s.Kind), Time: s.Time, NS: s.Ns, PID: s.Pid, TID: s.Tid, Comm: text(s.Comm[:]),
		Kernel: slices.Clone(s.Stack[:kernel]), User: slices.Clone(s.Stack[kernel : kernel+user]),
	}
	switch out.Kind {
	case OffCPU:
		out.Preempted = s.Flags&flag != 0
	case Disk:
		out.Device, out.Sector, out.Bytes, out.Write = s.Device, s.Where, s.Bytes, s.Flags&flag != 0
	case Fault:
		out.Address, out.FromFile = s.Where, s.Flags&flag != 0
	}
	return out
}

// text returns the characters up to the first zero.
func text(chars []int8) string {
	var b strings.Builder
	for _, c := range chars {
		if c == 0 {
			break
		}
		b.WriteByte(byte(c))
	}
	return b.String()
}
