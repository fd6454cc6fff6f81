package packet

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"

	"github.com/gopacket/gopacket"

	"github.com/org/ebpf-bench-action/internal/bench"
)

const (
	// defaultSize is the smallest frame that Ethernet carries, without the
	// frame check sequence.
	defaultSize = 60
	// maxSize is the largest frame that common hardware carries. If the kernel
	// takes less, its error says so.
	maxSize = 9216
)

// buildFrames returns a frame for every combination of the source addresses and
// the sizes in a description by headers.
func buildFrames(desc *bench.Packet, room int) ([][]byte, error) {
	h, err := newHeaders(desc)
	if err != nil {
		return nil, err
	}
	sizes := desc.Sizes
	if len(sizes) == 0 {
		sizes = bench.Sizes{max(h.length, defaultSize)}
	}
	for _, size := range sizes {
		if size < h.length {
			return nil, fmt.Errorf("size %d is less than the %d bytes of its headers", size, h.length)
		}
		if size > maxSize {
			return nil, fmt.Errorf("size %d is more than %d", size, maxSize)
		}
	}
	if h.sources.Len() > room/len(sizes) {
		return nil, errTooManyPackets
	}

	var frames [][]byte
	for _, src := range h.sources.All() {
		h.setSource(src)
		for _, size := range sizes {
			frame, err := h.frame(size)
			if err != nil {
				return nil, fmt.Errorf("build frame: %w", err)
			}
			frames = append(frames, frame)
		}
	}
	return frames, nil
}

// headers are the headers of one description, ready to be serialized.
type headers struct {
	layers []gopacket.SerializableLayer
	// length is the length of all headers in bytes.
	length int
	// sources are the source addresses. A frame without IP has one that nobody
	// reads.
	sources   bench.AddrRange
	setSource func(netip.Addr)

	buf gopacket.SerializeBuffer
}

func newHeaders(desc *bench.Packet) (*headers, error) {
	switch {
	case desc.IPv4 != nil && desc.IPv6 != nil:
		return nil, errors.New("has ipv4 and ipv6: it takes one of them")
	case desc.UDP != nil && desc.TCP != nil:
		return nil, errors.New("has udp and tcp: it takes one of them")
	case (desc.UDP != nil || desc.TCP != nil) && desc.IPv4 == nil && desc.IPv6 == nil:
		return nil, errors.New("has udp or tcp without ipv4 or ipv6")
	}
	h := &headers{
		sources:   bench.AddrRange{First: netip.IPv4Unspecified(), Last: netip.IPv4Unspecified()},
		setSource: func(netip.Addr) {},
		buf:       gopacket.NewSerializeBuffer(),
	}
	if err := h.addEthernet(desc); err != nil {
		return nil, err
	}
	network, err := h.addIP(desc)
	if err != nil {
		return nil, err
	}
	return h, h.addTransport(desc, network)
}

func (h *headers) add(layer gopacket.SerializableLayer, length int) {
	h.layers = append(h.layers, layer)
	h.length += length
}

// payload is what fills up a frame: the same bytes on every machine.
var payload = func() []byte {
	b := make([]byte, maxSize)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}()

// frame serializes the headers with a payload that makes it size bytes long.
func (h *headers) frame(size int) ([]byte, error) {
	opts := gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}
	stack := append(h.layers[:len(h.layers):len(h.layers)], gopacket.Payload(payload[:size-h.length]))
	if err := gopacket.SerializeLayers(h.buf, opts, stack...); err != nil {
		return nil, err
	}
	// The serializer pads to the minimum of Ethernet, even if given a size
	// below it.
	return bytes.Clone(h.buf.Bytes()[:size]), nil
}
