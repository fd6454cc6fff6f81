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
	// Copy is nil if the tracer makes none, or if the thread has no 64-bit code to return
	// to.
	Copy *Copy
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

// sampleHeader is struct sample up to its stacks.
type sampleHeader struct {
	Time, NS, Where                                          uint64
	Bytes, Kind, PID, TID, KernelLen, UserLen, Flags, Device uint32
	Comm                                                     [16]int8
}

// MaxStack is how many addresses a stack has at most, of the kernel and of user space each.
const MaxStack = 127

// Registers are those of a thread in user space, as DWARF numbers them: rsp is 7, and the
// address of the instruction is 16.
type Registers [17]uint64

// Copy is what unwinding the stack of a thread takes.
type Copy struct {
	Registers Registers
	// Memory is the stack, from RedZone bytes below the stack pointer on. Pages that were
	// not in memory are zero.
	Memory []byte
}

// RedZone is how much of what is below the stack pointer belongs to the function.
const RedZone = 128

// decodeSample decodes a sample, of the programs that copy stacks or of those that do not.
func decodeSample(raw []byte, copies bool) (Sample, error) {
	var h sampleHeader
	most := binary.Size(eventsSample{})
	if copies {
		most = binary.Size(copiesSample{})
	}
	n, err := binary.Decode(raw, binary.NativeEndian, &h)
	if err != nil || len(raw) > most {
		return Sample{}, fmt.Errorf("decode sample: %d bytes", len(raw))
	}
	copied := uint64(0)
	if raw = raw[n:]; copies {
		if len(raw) < addrSize {
			return Sample{}, fmt.Errorf("decode sample: %d bytes after its header", len(raw))
		}
		copied, raw = binary.NativeEndian.Uint64(raw), raw[addrSize:]
	}
	kernel, user := uint64(h.KernelLen), uint64(h.UserLen)
	if h.Kind >= uint32(len(attach)) || kernel%addrSize != 0 || user%addrSize != 0 || copied > uint64(most) || kernel+user+copied > uint64(len(raw)) {
		return Sample{}, fmt.Errorf("decode sample of kind %d: stacks of %d and %d bytes, and a copy of %d, in %d", h.Kind, kernel, user, copied, len(raw))
	}
	s := h.export()
	s.Kernel, s.User = addresses(raw[:kernel]), addresses(raw[kernel:kernel+user])
	if raw = raw[kernel+user:][:copied]; copied > 0 {
		s.Copy = new(Copy)
		n, err := binary.Decode(raw, binary.NativeEndian, &s.Copy.Registers)
		if err != nil {
			return Sample{}, fmt.Errorf("decode sample: a copy of %d bytes", copied)
		}
		s.Copy.Memory = slices.Clone(raw[n:])
	}
	return s, nil
}

func addresses(raw []byte) []uint64 {
	out := make([]uint64, len(raw)/addrSize)
	for i := range out {
		out[i] = binary.NativeEndian.Uint64(raw[i*addrSize:])
	}
	return out
}

func (h *sampleHeader) export() Sample {
	const flag = 1 // of each kind
	out := Sample{Kind: Kind(h.Kind), Time: h.Time, NS: h.NS, PID: h.PID, TID: h.TID, Comm: text(h.Comm[:])}
	switch out.Kind {
	case OffCPU:
		out.Preempted = h.Flags&flag != 0
	case Disk:
		out.Device, out.Sector, out.Bytes, out.Write = h.Device, h.Where, h.Bytes, h.Flags&flag != 0
	case Fault:
		out.Address, out.FromFile = h.Where, h.Flags&flag != 0
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
