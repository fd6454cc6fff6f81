package mutate

import (
	"encoding/binary"
	"slices"
)

// protocols are those over IP that programs tell apart.
var protocols = []byte{protoUDP, protoTCP, protoICMP, protoICMPv6, protoGRE, protoIPinIP, protoIPv6, protoSCTP, protoESP, protoAH, protoHopByHop, protoRouting, protoFragment, protoOptions}

// etherTypes are those that programs tell apart: also those of MPLS, PPPoE and LLDP.
var etherTypes = []uint16{etherIPv4, etherIPv6, etherARP, 0x8847, 0x8864, 0x88cc, etherVLAN}

// restructure adds, removes or replaces a header.
func (m *Mutator) restructure(frame []byte) []byte {
	l := layoutOf(frame)
	behind := l.transport > 0 && l.transport <= len(frame)
	ip := l.ether == etherIPv4 && l.network+ipv4Size <= len(frame) || l.ether == etherIPv6 && l.network+ipv6Size <= len(frame)
	switch kind := m.Rand.IntN(9); {
	case kind == 0:
		return slices.Insert(frame, ethernetSize-2, m.tag()...)
	case kind == 1 && l.network > ethernetSize:
		return slices.Delete(frame, ethernetSize-2, ethernetSize-2+vlanSize)
	case kind == 2 && behind: // IPv4 instead of IPv6, or the other way round
		protocol := l.protocol
		if m.Rand.IntN(2) == 0 {
			protocol = m.protocol()
		}
		return slices.Concat(frame[:l.network], m.network(frame, l.network, protocol), frame[l.transport:])
	case kind == 3 && behind:
		protocol := protocols[m.Rand.IntN(4)]
		l.setProtocol(frame, protocol)
		return slices.Concat(frame[:l.transport], transport(protocol), make([]byte, m.Rand.IntN(64)))
	case kind == 4 && ip:
		return m.option(frame, &l)
	case kind == 5 && l.protocol == protoTCP && l.transport+tcpSize <= len(frame):
		return m.tcpOption(frame, l.transport)
	case kind == 6 && ip: // a tunnel
		inner := byte(protoIPinIP)
		if l.ether == etherIPv6 {
			inner = protoIPv6
		}
		return slices.Insert(frame, l.network, m.network(frame, l.network, inner)...)
	case kind == 7:
		binary.BigEndian.PutUint16(frame[max(l.network, ethernetSize)-2:], etherTypes[m.Rand.IntN(len(etherTypes))])
	case kind == 8 && ip:
		l.setProtocol(frame, m.protocol())
	}
	return frame
}

func (m *Mutator) protocol() byte { return protocols[m.Rand.IntN(len(protocols))] }

// tag returns a VLAN tag.
func (m *Mutator) tag() header {
	if m.Rand.IntN(3) == 0 {
		return header{etherQinQ >> 8, etherQinQ & 0xff, 0, byte(m.Rand.Uint32())}
	}
	return header{etherVLAN >> 8, etherVLAN & 0xff, 0, byte(m.Rand.Uint32())}
}

// network returns a header of IP for the offset of a frame, whose EtherType it sets.
func (m *Mutator) network(frame []byte, at int, protocol byte) header {
	if m.Rand.IntN(2) == 0 {
		binary.BigEndian.PutUint16(frame[at-2:], etherIPv4)
		return ipv4(protocol)
	}
	binary.BigEndian.PutUint16(frame[at-2:], etherIPv6)
	return ipv6(protocol)
}

// setProtocol says which header is behind that of IP.
func (l *layout) setProtocol(frame []byte, protocol byte) {
	if l.ether == etherIPv4 {
		frame[l.network+9] = protocol
	} else {
		frame[l.network+6] = protocol
	}
}

// option adds options to a header of IPv4, or an extension header to one of IPv6.
func (m *Mutator) option(frame []byte, l *layout) []byte {
	if l.ether == etherIPv4 {
		b := m.options(1 + m.Rand.IntN(10))
		frame[l.network] = 0x40 | min(15, frame[l.network]&15+byte(len(b)/4))
		return slices.Insert(frame, l.network+ipv4Size, b...)
	}
	next := extensions[m.Rand.IntN(len(extensions))]
	b := make([]byte, 8+8*m.Rand.IntN(3))
	b[0], b[1] = frame[l.network+6], byte(len(b)/8-1)
	if next == protoFragment {
		b = b[:8]
		b[1], b[3] = 0, byte(m.Rand.IntN(2))*byte(m.Rand.Uint32())
	}
	frame[l.network+6] = next
	return slices.Insert(frame, l.network+ipv6Size, b...)
}

func (m *Mutator) tcpOption(frame []byte, at int) []byte {
	b := m.options(1 + m.Rand.IntN(10))
	if m.Rand.IntN(2) == 0 {
		copy(b, tcpOptions)
	}
	words := &frame[at+12]
	*words = min(15, *words>>4+byte(len(b)/4))<<4 | *words&15
	return slices.Insert(frame, at+tcpSize, b...)
}

// options returns words of options that do nothing, or of anything.
func (m *Mutator) options(words int) []byte {
	b := make([]byte, 4*words)
	for i := range b {
		b[i] = 1
	}
	if m.Rand.IntN(2) == 0 {
		m.fill(b)
	}
	return b
}
