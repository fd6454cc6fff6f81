package packet

import (
	"cmp"
	"fmt"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// Default ports: the first ephemeral one, discard and http.
const (
	defaultSrcPort = 49152
	defaultUDPPort = 9
	defaultTCPPort = 80
)

func (h *headers) addTransport(desc *bench.Packet, network gopacket.NetworkLayer) error {
	switch {
	case desc.UDP != nil:
		udp := &layers.UDP{
			SrcPort: layers.UDPPort(cmp.Or(desc.UDP.Src, defaultSrcPort)),
			DstPort: layers.UDPPort(cmp.Or(desc.UDP.Dst, defaultUDPPort)),
		}
		h.add(udp, 8)
		return udp.SetNetworkLayerForChecksum(network)
	case desc.TCP != nil:
		tcp := &layers.TCP{
			SrcPort: layers.TCPPort(cmp.Or(desc.TCP.Src, defaultSrcPort)),
			DstPort: layers.TCPPort(cmp.Or(desc.TCP.Dst, defaultTCPPort)),
			Seq:     1,
			Window:  64240,
		}
		h.add(tcp, 20)
		if err := setFlags(tcp, desc.TCP.Flags); err != nil {
			return fmt.Errorf("tcp: %w", err)
		}
		return tcp.SetNetworkLayerForChecksum(network)
	}
	return nil
}

// setFlags sets the named flags or, without names, the flag of a segment in an
// established connection.
func setFlags(tcp *layers.TCP, names []string) error {
	if len(names) == 0 {
		names = []string{"ack"}
	}
	for _, name := range names {
		switch name {
		case "fin":
			tcp.FIN = true
		case "syn":
			tcp.SYN = true
		case "rst":
			tcp.RST = true
		case "psh":
			tcp.PSH = true
		case "ack":
			tcp.ACK, tcp.Ack = true, 1
		case "urg":
			tcp.URG = true
		case "ece":
			tcp.ECE = true
		case "cwr":
			tcp.CWR = true
		case "ns":
			tcp.NS = true
		default:
			return fmt.Errorf("unknown flag %q: the flags are fin, syn, rst, psh, ack, urg, ece, cwr, ns", name)
		}
	}
	return nil
}
