package progrun

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/workload/packet"
)

// Input is the input of a run: data_in and ctx_in. Either may be nil.
type Input struct{ Data, Context []byte }

// Left is what a run left of an input. A nil slice is what the kernel does not tell.
type Left struct{ Data, Context []byte }

// Inputs returns the inputs of runs of a program of type of: one for each packet, or a
// single one if the type takes no packets. An error about a packet has its number.
func Inputs(of ebpf.ProgramType, context *bench.Context, frames [][]byte) ([]Input, error) {
	given, err := ContextBytes(context)
	if err != nil {
		return nil, fmt.Errorf("context: %w", err)
	}
	if !TakesPackets(of) {
		in, err := One(of, given, nil)
		return []Input{in}, err
	}
	var all []Input
	for i, frame := range frames {
		in, err := One(of, given, frame)
		if err != nil {
			return nil, fmt.Errorf("packet %d: %w", i+1, err)
		}
		all = append(all, in)
	}
	return all, nil
}

// One returns the input of one run of a program of type of. A nil context is the default
// one; frame is the packet, if the type takes any.
func One(of ebpf.ProgramType, context, frame []byte) (in Input, err error) {
	typ := Types[of]
	in.Context = context
	if typ.context != nil {
		if in.Context, err = typ.context(context, frame); err != nil {
			return Input{}, err
		}
	}
	if typ.Packets && !typ.Lookup {
		in.Data = frame
	}
	return in, nil
}

// ContextBytes returns the bytes of a suite's context, or nil if c is nil.
func ContextBytes(c *bench.Context) ([]byte, error) {
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

// xdpContext returns a struct xdp_md. If a suite leaves the packet's end in it
// zero, xdpContext fills it in, because the kernel requires it.
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

// rawTracepointArgs is the largest number of arguments of a tracepoint.
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

// syscallContext returns a page of zeros if the suite gives no context: nearly
// every program reads less than that.
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

// netfilterContext returns the start of a struct nf_hook_state: the hook, and
// the family, which must match the packet's and is filled in if it is zero. Without
// a context, the kernel assumes IPv4.
func netfilterContext(given, packet []byte) ([]byte, error) {
	const (
		ipv4, ipv6     = 0x0800, 0x86dd
		hookLocalOut   = 3
		familyIPv4     = 2
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
	case len(given) > 1 && given[1] == 0:
		given = append([]byte(nil), given...)
		if given[1] = familyIPv4; typ == ipv6 {
			given[1] = familyIPv6
		}
	}
	return given, nil
}

// TakesPackets reports whether test_run gives programs of a type packets.
func TakesPackets(typ ebpf.ProgramType) bool { return Types[typ].Packets }
