package packet

import (
	"encoding/binary"
	"errors"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"golang.org/x/sys/unix"
)

// skLookup is the kernel's struct bpf_sk_lookup. Addresses and the remote port
// are in network byte order, everything else is in the machine's.
type skLookup struct {
	Cookie     uint64
	Family     uint32
	Protocol   uint32
	RemoteIP4  [4]byte
	RemoteIP6  [16]byte
	RemotePort [2]byte
	_          uint16
	LocalIP4   [4]byte
	LocalIP6   [16]byte
	LocalPort  uint32
	_          [2]uint32 // ingress_ifindex, which must be 0, and padding
}

// SkLookup returns the context of a sk_lookup program that looks up the socket
// of an incoming packet.
func SkLookup(frame []byte) ([]byte, error) {
	packet := gopacket.NewPacket(frame, layers.LayerTypeEthernet, gopacket.DecodeOptions{NoCopy: true})
	var lookup skLookup
	switch ip := packet.NetworkLayer().(type) {
	case *layers.IPv4:
		lookup.Family = unix.AF_INET
		copy(lookup.RemoteIP4[:], ip.SrcIP)
		copy(lookup.LocalIP4[:], ip.DstIP)
	case *layers.IPv6:
		lookup.Family = unix.AF_INET6
		copy(lookup.RemoteIP6[:], ip.SrcIP)
		copy(lookup.LocalIP6[:], ip.DstIP)
	default:
		return nil, errors.New("it is neither IPv4 nor IPv6, so no socket is looked up for it")
	}
	switch l4 := packet.TransportLayer().(type) {
	case *layers.TCP:
		lookup.Protocol, lookup.LocalPort = unix.IPPROTO_TCP, uint32(l4.DstPort)
		binary.BigEndian.PutUint16(lookup.RemotePort[:], uint16(l4.SrcPort))
	case *layers.UDP:
		lookup.Protocol, lookup.LocalPort = unix.IPPROTO_UDP, uint32(l4.DstPort)
		binary.BigEndian.PutUint16(lookup.RemotePort[:], uint16(l4.SrcPort))
	default:
		return nil, errors.New("it is neither TCP nor UDP, so no socket is looked up for it")
	}
	return binary.Append(nil, binary.NativeEndian, &lookup)
}
