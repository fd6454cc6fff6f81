package packet

import (
	"fmt"
	"strings"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
)

// Describe says in a few words what a frame is, whatever it holds: such as IPv4 10.0.0.1 >
// 10.0.0.2, UDP 4000 > 53.
func Describe(frame []byte) string {
	p := gopacket.NewPacket(frame, layers.LayerTypeEthernet, gopacket.DecodeOptions{NoCopy: true})
	var parts []string
	for _, layer := range p.Layers() {
		part, more := describe(layer)
		if part != "" {
			parts = append(parts, part)
		}
		if !more {
			break
		}
	}
	if eth, ok := p.LinkLayer().(*layers.Ethernet); ok && len(parts) == 0 {
		return fmt.Sprintf("Ethernet type %#04x", uint16(eth.EthernetType))
	}
	if len(parts) == 0 {
		return "not Ethernet"
	}
	return strings.Join(parts, ", ")
}

// describe describes a header, if it is worth a word. more says whether the next is, too.
func describe(layer gopacket.Layer) (text string, more bool) {
	switch l := layer.(type) {
	case *layers.Ethernet:
		return "", true
	case *layers.Dot1Q:
		return fmt.Sprintf("VLAN %d", l.VLANIdentifier), true
	case *layers.IPv4:
		if l.SrcIP == nil || l.DstIP == nil {
			return "IPv4, truncated", false
		}
		text = fmt.Sprintf("IPv4 %s > %s", l.SrcIP, l.DstIP)
		if n := len(l.Options); n > 0 {
			text += " with options"
		}
		if l.FragOffset > 0 || l.Flags&layers.IPv4MoreFragments != 0 {
			return text + ", a fragment", false
		}
		return text, true
	case *layers.IPv6:
		if l.SrcIP == nil || l.DstIP == nil {
			return "IPv6, truncated", false
		}
		return fmt.Sprintf("IPv6 %s > %s", l.SrcIP, l.DstIP), true
	case *layers.TCP:
		return fmt.Sprintf("TCP %d > %d", l.SrcPort, l.DstPort), false
	case *layers.UDP:
		return fmt.Sprintf("UDP %d > %d", l.SrcPort, l.DstPort), false
	case *layers.ARP, *layers.ICMPv4, *layers.ICMPv6:
		return layer.LayerType().String(), false
	}
	switch layer.LayerType() {
	case gopacket.LayerTypePayload, gopacket.LayerTypeFragment, gopacket.LayerTypeZero, gopacket.LayerTypeDecodeFailure:
		return "", false
	}
	return layer.LayerType().String(), true
}
