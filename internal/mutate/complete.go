package mutate

import "encoding/binary"

// Complete sets what a sender computes of the frame's outer IP header and the one behind
// it: lengths and the checksum of IPv4, and with checksums that of the transport, too.
func Complete(frame []byte, checksums bool) {
	l := layoutOf(frame)
	ip := frame[min(l.network, len(frame)):]
	var addresses []byte
	switch {
	case l.ether == etherIPv4 && len(ip) >= ipv4Size:
		binary.BigEndian.PutUint16(ip[2:], uint16(len(ip)))
		header := ip[:min(len(ip), max(ipv4Size, l.transport-l.network))]
		putChecksum(header, 10, 0)
		addresses = ip[12:ipv4Size]
	case l.ether == etherIPv6 && len(ip) >= ipv6Size:
		binary.BigEndian.PutUint16(ip[4:], uint16(len(ip)-ipv6Size))
		addresses = ip[8:ipv6Size]
	default:
		return
	}
	if l.transport+8 > len(frame) {
		return
	}
	segment := frame[l.transport:]
	if l.protocol == protoUDP {
		binary.BigEndian.PutUint16(segment[4:], uint16(len(segment)))
	}
	if !checksums {
		return
	}
	pseudo := sum(addresses, uint32(l.protocol)+uint32(len(segment)))
	switch {
	case l.protocol == protoUDP:
		putChecksum(segment, 6, pseudo)
		if segment[6] == 0 && segment[7] == 0 { // which would mean that there is none
			segment[6], segment[7] = 0xff, 0xff
		}
	case l.protocol == protoTCP && len(segment) >= 18:
		putChecksum(segment, 16, pseudo)
	case l.protocol == protoICMPv6:
		putChecksum(segment, 2, pseudo)
	case l.protocol == protoICMP:
		putChecksum(segment, 2, 0)
	}
}

// putChecksum computes the checksum of data, which has it at a place, by RFC 1071.
func putChecksum(data []byte, at int, pseudo uint32) {
	data[at], data[at+1] = 0, 0
	s := sum(data, pseudo)
	for s>>16 != 0 {
		s = s&0xffff + s>>16
	}
	binary.BigEndian.PutUint16(data[at:], ^uint16(s))
}

// sum adds the 16-bit words of data to s.
func sum(data []byte, s uint32) uint32 {
	for i := 0; i+1 < len(data); i += 2 {
		s += uint32(data[i])<<8 | uint32(data[i+1])
	}
	if len(data)%2 == 1 {
		s += uint32(data[len(data)-1]) << 8
	}
	return s
}
