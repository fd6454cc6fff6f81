package bench

import (
	"encoding/binary"
	"fmt"
	"math"
	"net/netip"
	"strings"
)

// Packet describes one or more packets: by their headers, as bytes in hex, or as a pcap
// file. A description by headers expands to every combination of its source addresses and
// sizes.
type Packet struct {
	Hex  string `yaml:"hex"`
	Pcap string `yaml:"pcap"`

	Eth  *Eth `yaml:"eth"`
	IPv4 *IP  `yaml:"ipv4"`
	IPv6 *IP  `yaml:"ipv6"`
	UDP  *UDP `yaml:"udp"`
	TCP  *TCP `yaml:"tcp"`
	// Sizes are whole frame sizes in bytes, Ethernet header included, without
	// the frame check sequence; the payload fills up what the headers leave.
	Sizes Sizes `yaml:"size"`
}

// Eth is an Ethernet header. Type defaults to that of the next header.
type Eth struct {
	Src  string `yaml:"src"`
	Dst  string `yaml:"dst"`
	VLAN uint16 `yaml:"vlan"`
	Type uint16 `yaml:"type"`
}

// IP is an IPv4 or IPv6 header.
type IP struct {
	Src AddrRange  `yaml:"src"`
	Dst netip.Addr `yaml:"dst"`
	TTL uint8      `yaml:"ttl"`
}

// UDP is a UDP header.
type UDP struct {
	Src uint16 `yaml:"src"`
	Dst uint16 `yaml:"dst"`
}

// TCP is a TCP header; Flags are lower-case names such as syn and ack.
type TCP struct {
	Src   uint16   `yaml:"src"`
	Dst   uint16   `yaml:"dst"`
	Flags []string `yaml:"flags"`
}

// Sizes is one frame size or a list of them.
type Sizes []int

// UnmarshalYAML reads a number or a list of numbers.
func (s *Sizes) UnmarshalYAML(unmarshal func(any) error) error {
	var one int
	if unmarshal(&one) == nil {
		*s = Sizes{one}
		return nil
	}
	var list []int
	if err := unmarshal(&list); err != nil {
		return fmt.Errorf("a size is a number of bytes or a list of them")
	}
	*s = list
	return nil
}

// MaxPackets is how many packets one description may expand to.
const MaxPackets = 4096

// AddrRange is a range of addresses, both ends included.
type AddrRange struct{ First, Last netip.Addr }

// UnmarshalText reads an address, FIRST-LAST, or a prefix such as 10.0.0.0/30, which
// includes all its addresses.
func (r *AddrRange) UnmarshalText(text []byte) error {
	s := string(text)
	if p, err := netip.ParsePrefix(s); err == nil {
		r.First = p.Masked().Addr()
		r.Last = lastOf(p)
		return r.check(s)
	}
	first, last, isRange := strings.Cut(s, "-")
	if !isRange {
		last = first
	}
	var err error
	if r.First, err = netip.ParseAddr(strings.TrimSpace(first)); err == nil {
		r.Last, err = netip.ParseAddr(strings.TrimSpace(last))
	}
	if err != nil {
		return fmt.Errorf("%q is not an address, FIRST-LAST range or prefix", s)
	}
	return r.check(s)
}

func (r *AddrRange) check(s string) error {
	switch {
	case r.First.Is4() != r.Last.Is4():
		return fmt.Errorf("%q mixes IPv4 and IPv6", s)
	case r.First.Zone() != "" || r.Last.Zone() != "":
		return fmt.Errorf("%q has a zone, which a packet cannot carry", s)
	case r.Last.Less(r.First):
		return fmt.Errorf("%q ends before it begins", s)
	case r.Len() > MaxPackets:
		return fmt.Errorf("%q has more than %d addresses", s, MaxPackets)
	}
	return nil
}

// Len returns the number of addresses in the range, or math.MaxInt if that does not fit an
// int.
func (r AddrRange) Len() int {
	if !r.First.IsValid() {
		return 0
	}
	a, b := r.First.As16(), r.Last.As16()
	if [8]byte(a[:8]) != [8]byte(b[:8]) {
		return math.MaxInt
	}
	d := binary.BigEndian.Uint64(b[8:]) - binary.BigEndian.Uint64(a[8:])
	if d >= math.MaxInt-1 {
		return math.MaxInt
	}
	return int(d) + 1
}

// All returns every address in the range.
func (r AddrRange) All() []netip.Addr {
	var all []netip.Addr
	for a := r.First; a.IsValid() && !r.Last.Less(a); a = a.Next() {
		all = append(all, a)
	}
	return all
}

func lastOf(p netip.Prefix) netip.Addr {
	b := p.Masked().Addr().AsSlice()
	for i := p.Bits(); i < len(b)*8; i++ {
		b[i/8] |= 0x80 >> (i % 8)
	}
	a, _ := netip.AddrFromSlice(b)
	return a
}
