package mutate

import (
	"encoding/binary"
	"slices"
)

// EtherTypes and protocols.
const (
	etherIPv4, etherIPv6, etherARP = 0x0800, 0x86dd, 0x0806
	etherVLAN, etherQinQ           = 0x8100, 0x88a8

	protoHopByHop, protoICMP, protoIPinIP, protoTCP, protoUDP = 0, 1, 4, 6, 17
	protoIPv6, protoRouting, protoFragment, protoGRE          = 41, 43, 44, 47
	protoESP, protoAH, protoICMPv6, protoOptions              = 50, 51, 58, 60
	protoSCTP, protoMobility                                  = 132, 135
)

// Sizes of headers, in bytes.
const (
	ethernetSize = 14
	vlanSize     = 4
	ipv4Size     = 20
	ipv6Size     = 40
	udpSize      = 8
	tcpSize      = 20
)

// A field is a part of a frame: its offset and how many bytes it has.
type field struct{ at, size int }

// layout is where the headers of a frame are, as far as it has them.
type layout struct {
	network   int    // offset of the header after Ethernet and VLAN tags
	ether     uint16 // which that is
	transport int    // offset of the header after that of IP, or 0
	protocol  byte   // which that is
	fields    []field
	ends      []int // of headers
}

// Fields of headers, from their start.
var (
	ethernetFields = []field{{0, 6}, {6, 6}, {12, 2}}
	vlanFields     = []field{{0, 2}, {2, 2}}
	ipv4Fields     = []field{{0, 1}, {1, 1}, {2, 2}, {4, 2}, {6, 2}, {8, 1}, {9, 1}, {10, 2}, {12, 4}, {15, 1}, {16, 4}, {19, 1}}
	ipv6Fields     = []field{{0, 4}, {4, 2}, {6, 1}, {7, 1}, {8, 16}, {8, 4}, {20, 4}, {24, 16}, {24, 4}, {36, 4}}
	arpFields      = []field{{0, 2}, {2, 2}, {4, 1}, {5, 1}, {6, 2}, {8, 6}, {14, 4}, {18, 6}, {24, 4}}
	extFields      = []field{{0, 1}, {1, 1}, {2, 2}, {4, 4}}
	icmpFields     = []field{{0, 1}, {1, 1}, {4, 4}}
	tcpFields      = []field{{0, 2}, {2, 2}, {4, 4}, {8, 4}, {12, 1}, {13, 1}, {14, 2}, {16, 2}, {18, 2}, {20, 1}, {21, 1}, {20, 4}}
	// Behind UDP, protocols begin with words of any size.
	udpFields   = []field{{0, 2}, {2, 2}, {4, 2}, {6, 2}, {8, 1}, {8, 2}, {8, 4}, {9, 1}, {10, 2}, {12, 4}, {16, 4}, {20, 4}}
	otherFields = []field{{0, 2}, {2, 2}, {4, 4}, {8, 4}, {12, 4}}
)

// layoutOf finds the headers of a frame.
func layoutOf(frame []byte) (l layout) {
	l.add(frame, 0, ethernetFields)
	if len(frame) < ethernetSize {
		return l
	}
	at := ethernetSize
	l.ether = binary.BigEndian.Uint16(frame[at-2:])
	for (l.ether == etherVLAN || l.ether == etherQinQ) && at+vlanSize <= len(frame) {
		l.add(frame, at, vlanFields)
		l.ether = binary.BigEndian.Uint16(frame[at+2:])
		at += vlanSize
	}
	l.network = at
	l.ends = append(l.ends, at)
	switch l.ether {
	case etherIPv4:
		l.ipv4(frame)
	case etherIPv6:
		l.ipv6(frame)
	case etherARP:
		l.add(frame, at, arpFields)
	default:
		l.add(frame, at, vlanFields)
	}
	return l
}

// add adds the fields that the frame has of a header.
func (l *layout) add(frame []byte, at int, fields []field) {
	for _, f := range fields {
		if f.at += at; f.at+f.size <= len(frame) {
			l.fields = append(l.fields, f)
		}
	}
}

func (l *layout) ipv4(frame []byte) {
	at := l.network
	l.add(frame, at, ipv4Fields)
	if at+ipv4Size > len(frame) {
		return
	}
	l.ends = append(l.ends, at+ipv4Size)
	l.behind(frame, at+int(frame[at]&15)*4, frame[at+9])
}

func (l *layout) ipv6(frame []byte) {
	at := l.network
	l.add(frame, at, ipv6Fields)
	if at+ipv6Size > len(frame) {
		return
	}
	next := frame[at+6]
	at += ipv6Size
	for isExtension(next) && at+8 <= len(frame) {
		l.add(frame, at, extFields)
		l.ends = append(l.ends, at)
		size := 8
		switch next {
		case protoFragment:
		case protoAH:
			size += 4 * int(frame[at+1])
		default:
			size += 8 * int(frame[at+1])
		}
		next = frame[at]
		at += size
	}
	l.behind(frame, at, next)
}

var extensions = []byte{protoHopByHop, protoRouting, protoFragment, protoOptions, protoAH, protoMobility}

func isExtension(next byte) bool { return slices.Contains(extensions, next) }

// behind adds the header after that of IP.
func (l *layout) behind(frame []byte, at int, protocol byte) {
	l.transport, l.protocol = at, protocol
	l.ends = append(l.ends, at)
	switch protocol {
	case protoUDP:
		l.add(frame, at, udpFields)
		l.ends = append(l.ends, at+udpSize)
	case protoTCP:
		l.add(frame, at, tcpFields)
		l.ends = append(l.ends, at+tcpSize)
		if at+tcpSize <= len(frame) {
			l.ends = append(l.ends, at+int(frame[at+12]>>4)*4)
		}
	case protoICMP, protoICMPv6:
		l.add(frame, at, icmpFields)
		l.ends = append(l.ends, at+8)
	default:
		l.add(frame, at, otherFields)
		l.ends = append(l.ends, at+8)
	}
}
