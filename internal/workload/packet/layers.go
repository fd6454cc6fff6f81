package packet

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// Defaults for what a description leaves out.
const (
	defaultSrcMAC = "02:00:00:00:00:01"
	defaultDstMAC = "02:00:00:00:00:02"
	defaultTTL    = 64
)

// Numbers reserved for experiments, for a frame and an IP packet without a next
// header (RFC 5342 and RFC 3692).
const (
	experimentalEtherType = layers.EthernetType(0x88b5)
	experimentalProtocol  = layers.IPProtocol(253)
)

func (h *headers) addEthernet(desc *bench.Packet) error {
	eth := cmp.Or(desc.Eth, &bench.Eth{})
	src, err := parseMAC(cmp.Or(eth.Src, defaultSrcMAC))
	if err != nil {
		return fmt.Errorf("eth: src %w", err)
	}
	dst, err := parseMAC(cmp.Or(eth.Dst, defaultDstMAC))
	if err != nil {
		return fmt.Errorf("eth: dst %w", err)
	}

	etherType := experimentalEtherType
	switch {
	// Below 0x600 the field is a length, in another frame format.
	case eth.Type != 0 && eth.Type < 0x600:
		return fmt.Errorf("eth: type %#04x is below 0x0600", eth.Type)
	case eth.Type != 0:
		etherType = layers.EthernetType(eth.Type)
	case desc.IPv4 != nil:
		etherType = layers.EthernetTypeIPv4
	case desc.IPv6 != nil:
		etherType = layers.EthernetTypeIPv6
	}

	if eth.VLAN > 4094 {
		return fmt.Errorf("eth: vlan %d is more than 4094", eth.VLAN)
	}
	if eth.VLAN == 0 {
		h.add(&layers.Ethernet{SrcMAC: src, DstMAC: dst, EthernetType: etherType}, 14)
		return nil
	}
	h.add(&layers.Ethernet{SrcMAC: src, DstMAC: dst, EthernetType: layers.EthernetTypeDot1Q}, 14)
	h.add(&layers.Dot1Q{VLANIdentifier: eth.VLAN, Type: etherType}, 4)
	return nil
}

func parseMAC(s string) (net.HardwareAddr, error) {
	mac, err := net.ParseMAC(s)
	if err != nil || len(mac) != 6 {
		return nil, fmt.Errorf("%q is not a MAC address such as %s", s, defaultSrcMAC)
	}
	return mac, nil
}

// addIP adds the IP header, if there is one, and returns it for the checksum of
// the header above.
func (h *headers) addIP(desc *bench.Packet) (gopacket.NetworkLayer, error) {
	protocol := experimentalProtocol
	switch {
	case desc.UDP != nil:
		protocol = layers.IPProtocolUDP
	case desc.TCP != nil:
		protocol = layers.IPProtocolTCP
	}

	switch {
	case desc.IPv4 != nil:
		src, dst, err := addrs(desc.IPv4, "10.0.0.1", "10.0.0.2", netip.Addr.Is4)
		if err != nil {
			return nil, fmt.Errorf("ipv4: %w", err)
		}
		ip := &layers.IPv4{
			Version:  4,
			TTL:      cmp.Or(desc.IPv4.TTL, defaultTTL),
			Flags:    layers.IPv4DontFragment,
			Protocol: protocol,
			DstIP:    dst.AsSlice(),
		}
		h.add(ip, 20)
		h.sources, h.setSource = src, func(a netip.Addr) { ip.SrcIP = a.AsSlice() }
		return ip, nil
	case desc.IPv6 != nil:
		src, dst, err := addrs(desc.IPv6, "fd00::1", "fd00::2", netip.Addr.Is6)
		if err != nil {
			return nil, fmt.Errorf("ipv6: %w", err)
		}
		ip := &layers.IPv6{
			Version:    6,
			HopLimit:   cmp.Or(desc.IPv6.TTL, defaultTTL),
			NextHeader: protocol,
			DstIP:      dst.AsSlice(),
		}
		h.add(ip, 40)
		h.sources, h.setSource = src, func(a netip.Addr) { ip.SrcIP = a.AsSlice() }
		return ip, nil
	}
	return nil, nil
}

// addrs returns the addresses of an IP header, which must be of its family.
func addrs(ip *bench.IP, defaultSrc, defaultDst string, family func(netip.Addr) bool) (src bench.AddrRange, dst netip.Addr, err error) {
	src, dst = ip.Src, ip.Dst
	if !src.First.IsValid() {
		src.First = netip.MustParseAddr(defaultSrc)
		src.Last = src.First
	}
	if !dst.IsValid() {
		dst = netip.MustParseAddr(defaultDst)
	}
	for _, a := range []netip.Addr{src.First, src.Last, dst} {
		if !family(a) {
			return src, dst, fmt.Errorf("%s is an address of the other family", a)
		}
		if a.Zone() != "" {
			return src, dst, fmt.Errorf("%s has a zone, which a packet cannot carry", a)
		}
	}
	return src, dst, nil
}
