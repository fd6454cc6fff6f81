package mutate

import "slices"

// A header is the bytes of one in a frame. The functions below return one each.
type header []byte

func ethernet(ether uint16) header {
	return header{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, byte(ether >> 8), byte(ether)}
}

func ipv4(protocol byte) header {
	return header{0x45, 0, 0, 64, 0, 0, 0x40, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2}
}

func ipv6(next byte) header {
	h := make(header, ipv6Size)
	h[0], h[5], h[6], h[7] = 0x60, 64, next, 64
	h[8], h[23], h[24], h[39] = 0xfd, 1, 0xfd, 2
	return h
}

// transport returns the header of a protocol over IP.
func transport(protocol byte) header {
	switch protocol {
	case protoUDP:
		return header{0xc0, 0, 0, 53, 0, 40, 0, 0}
	case protoTCP:
		return header{0xc0, 0, 0, 80, 0, 0, 0, 1, 0, 0, 0, 1, 0x50, 0x10, 0xfa, 0xf0, 0, 0, 0, 0}
	case protoICMP:
		return header{8, 0, 0, 0, 0, 1, 0, 1}
	case protoICMPv6:
		return header{128, 0, 0, 0, 0, 1, 0, 1}
	}
	return make(header, 8)
}

// tcpOptions are a maximum segment size, selective acknowledgments, a timestamp and a
// window scale.
var tcpOptions = header{2, 4, 5, 0xb4, 4, 2, 8, 10, 0, 0, 0, 1, 0, 0, 0, 0, 1, 3, 3, 7}

// Frames returns frames of the usual protocols to begin with. The first is a plain UDP
// packet over IPv4.
func Frames() [][]byte {
	arp := header{0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 0, 0, 1, 10, 0, 0, 1, 0, 0, 0, 0, 0, 0, 10, 0, 0, 2}
	vlan := header{0, 5, 8, 0}
	query := header("\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x07example\x03com\x00\x00\x01\x00\x01")
	request := header("GET / HTTP/1.1\r\nHost: example.com\r\n\r\n")
	var all [][]byte
	add := func(size int, headers ...header) {
		frame := slices.Concat(headers...)
		for i := len(frame); i < size; i++ {
			frame = append(frame, byte(i))
		}
		Complete(frame, true)
		all = append(all, frame)
	}
	for _, p := range []byte{protoUDP, protoTCP, protoICMP} {
		add(64, ethernet(etherIPv4), ipv4(p), transport(p))
	}
	for _, p := range []byte{protoUDP, protoTCP, protoICMPv6} {
		add(96, ethernet(etherIPv6), ipv6(p), transport(p))
	}
	add(60, ethernet(etherARP), arp)
	add(68, ethernet(etherVLAN), vlan, ipv4(protoTCP), transport(protoTCP))
	add(60, ethernet(etherIPv4), ipv4(protoUDP), transport(protoUDP), query)
	add(120, ethernet(etherIPv4), ipv4(protoTCP), transport(protoTCP), request)
	return all
}
