package plan

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/workload/packet"
)

// Input is what a run is called with: data_in and ctx_in. Either may be nil.
type Input struct{ Data, Context []byte }

// Inputs are what the job's runs are called with: one for each packet, or the
// only one of a type that takes none. There is a number of packets in an error
// where it is about one.
func (j *Job) Inputs() ([]Input, error) {
	typ := RunTypes[j.ProgramSpec().Type]
	given, err := contextBytes(j.TestRun.Context)
	if err != nil {
		return nil, fmt.Errorf("context: %w", err)
	}
	if typ.context == nil {
		typ.context = func(given, _ []byte) ([]byte, error) { return given, nil }
	}
	if !typ.packets {
		context, err := typ.context(given, nil)
		return []Input{{Context: context}}, err
	}
	var all []Input
	for i, frame := range j.Frames {
		context, err := typ.context(given, frame)
		if err != nil {
			return nil, fmt.Errorf("packet %d: %w", i+1, err)
		}
		in := Input{Data: frame, Context: context}
		if typ.lookup {
			in.Data = nil
		}
		all = append(all, in)
	}
	return all, nil
}

// contextBytes are the bytes that a suite describes, nil for none.
func contextBytes(c *bench.Context) ([]byte, error) {
	if c == nil {
		return nil, nil
	}
	data, err := packet.Hex(c.Hex)
	if err != nil {
		return nil, err
	}
	for _, arg := range c.Args {
		data = binary.NativeEndian.AppendUint64(data, arg)
	}
	if c.Size > 0 && len(data) > c.Size {
		return nil, fmt.Errorf("it has %d bytes, more than its size of %d", len(data), c.Size)
	}
	return append(data, make([]byte, max(c.Size-len(data), 0))...), nil
}

// xdpContext is a struct xdp_md. The kernel wants to find the packet's end in
// it, where a suite leaves it zero.
func xdpContext(given, packet []byte) ([]byte, error) {
	const dataEnd, size = 4, 24
	if given == nil {
		return nil, nil
	}
	md := append([]byte(nil), given...)
	if len(md) < size {
		md = append(md, make([]byte, size-len(md))...)
	}
	if end := md[dataEnd : dataEnd+4]; binary.NativeEndian.Uint32(end) == 0 {
		binary.NativeEndian.PutUint32(end, uint32(len(packet)))
	}
	return md, nil
}

// rawTracepointArgs is the most arguments that a tracepoint has.
const rawTracepointArgs = 12

func rawTracepointContext(given, _ []byte) ([]byte, error) {
	const size = rawTracepointArgs * 8
	switch {
	case given == nil:
		return make([]byte, size), nil
	case len(given) > size:
		return nil, fmt.Errorf("context: it has %d bytes, more than the %d of the %d arguments that a raw tracepoint may have", len(given), size, rawTracepointArgs)
	}
	return given, nil
}

// syscallContext is a page of zeros where the suite has nothing: more than
// nearly every program reads of its context.
func syscallContext(given, _ []byte) ([]byte, error) {
	if given == nil {
		return make([]byte, 4096), nil
	}
	return given, nil
}

func skLookupContext(given, frame []byte) ([]byte, error) {
	if given != nil {
		return given, nil
	}
	return packet.SkLookup(frame)
}

// netfilterContext is the beginning of a struct nf_hook_state: the hook, and the
// family that the packet must be of. Without it the kernel takes the packet for
// IPv4.
func netfilterContext(given, packet []byte) ([]byte, error) {
	const (
		ipv4, ipv6     = 0x0800, 0x86dd
		hookLocalOut   = 3
		familyIPv6     = 10
		headerV4, inV6 = EthernetHeader + 20, EthernetHeader + 40
	)
	switch typ := binary.BigEndian.Uint16(packet[EthernetHeader-2:]); {
	case typ != ipv4 && typ != ipv6:
		return nil, fmt.Errorf("a netfilter program takes packets of IPv4 and IPv6, and this has the EtherType %#04x", typ)
	case typ == ipv4 && len(packet) < headerV4, typ == ipv6 && len(packet) < inV6:
		return nil, errors.New("a netfilter program takes packets with a whole IP header, and this is shorter")
	case given == nil && typ == ipv6:
		return []byte{hookLocalOut, familyIPv6}, nil
	}
	return given, nil
}

// TakesPackets reports whether test_run gives programs of a type packets.
func TakesPackets(typ ebpf.ProgramType) bool { return RunTypes[typ].packets }
