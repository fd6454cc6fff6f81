package packet

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/workload/workloadtest"
)

func noFiles(name string) ([]byte, error) { return nil, errors.New("no file " + name) }

func packets(t testing.TB, descs ...bench.Packet) [][]byte {
	t.Helper()
	frames, err := Expand(descs, noFiles)
	if err != nil {
		t.Fatal(err)
	}
	return frames
}

func addrRange(t testing.TB, s string) (r bench.AddrRange) {
	t.Helper()
	if err := r.UnmarshalText([]byte(s)); err != nil {
		t.Fatal(err)
	}
	return r
}

// checkFrame decodes a frame and checks its checksums.
func checkFrame(t testing.TB, frame []byte) gopacket.Packet {
	t.Helper()
	p := gopacket.NewPacket(frame, layers.LayerTypeEthernet, gopacket.Default)
	// The numbers for experiments have no decoder.
	if layer := p.ErrorLayer(); layer != nil && p.TransportLayer() != nil {
		t.Fatalf("decode %x: %v", frame, layer.Error())
	}
	if p.Metadata().Truncated {
		t.Fatalf("decode %x: truncated", frame)
	}
	checkSums(t, p)
	return p
}

// checkSums checks the checksums without the library that computed them: data
// and its checksum sum up to all ones.
func checkSums(t testing.TB, p gopacket.Packet) {
	t.Helper()
	network := p.NetworkLayer()
	if network == nil {
		return
	}
	if ip, ok := network.(*layers.IPv4); ok && onesSum(ip.Contents) != 0xffff {
		t.Errorf("IPv4 header %x has a wrong checksum", ip.Contents)
	}
	var protocol layers.IPProtocol
	switch p.TransportLayer().(type) {
	case *layers.UDP:
		protocol = layers.IPProtocolUDP
	case *layers.TCP:
		protocol = layers.IPProtocolTCP
	default:
		return
	}
	segment := network.LayerPayload()
	flow := network.NetworkFlow()
	pseudo := append(bytes.Clone(flow.Src().Raw()), flow.Dst().Raw()...)
	pseudo = binary.BigEndian.AppendUint32(pseudo, uint32(len(segment)))
	pseudo = binary.BigEndian.AppendUint32(pseudo, uint32(protocol))
	if onesSum(append(pseudo, segment...)) != 0xffff {
		t.Errorf("%s segment %x has a wrong checksum", protocol, segment)
	}
}

func onesSum(b []byte) uint16 {
	if len(b)%2 == 1 {
		b = append(bytes.Clone(b), 0)
	}
	var sum uint32
	for ; len(b) > 0; b = b[2:] {
		sum += uint32(binary.BigEndian.Uint16(b))
		sum = sum>>16 + sum&0xffff
	}
	return uint16(sum)
}

func TestFramesHaveTheSizeThatTheirHeadersAllow(t *testing.T) {
	eth, ip, udp, tcp := &bench.Eth{}, &bench.IP{}, &bench.UDP{}, &bench.TCP{}
	vlan := &bench.Eth{VLAN: 7}
	for name, tc := range map[string]struct {
		desc          bench.Packet
		least, normal int
	}{
		"eth":       {bench.Packet{Eth: eth}, 14, 60},
		"vlan":      {bench.Packet{Eth: vlan}, 18, 60},
		"ipv4":      {bench.Packet{IPv4: ip}, 34, 60},
		"ipv4 udp":  {bench.Packet{IPv4: ip, UDP: udp}, 42, 60},
		"ipv4 tcp":  {bench.Packet{IPv4: ip, TCP: tcp}, 54, 60},
		"vlan tcp":  {bench.Packet{Eth: vlan, IPv4: ip, TCP: tcp}, 58, 60},
		"ipv6":      {bench.Packet{IPv6: ip}, 54, 60},
		"ipv6 udp":  {bench.Packet{IPv6: ip, UDP: udp}, 62, 62},
		"ipv6 tcp":  {bench.Packet{IPv6: ip, TCP: tcp}, 74, 74},
		"vlan tcp6": {bench.Packet{Eth: vlan, IPv6: ip, TCP: tcp}, 78, 78},
	} {
		t.Run(name, func(t *testing.T) {
			sized := tc.desc
			sized.Sizes = bench.Sizes{tc.least, 1514, maxSize}
			frames := packets(t, tc.desc, sized)
			for i, want := range []int{tc.normal, tc.least, 1514, maxSize} {
				if len(frames[i]) != want {
					t.Errorf("frame %d has %d bytes, want %d", i+1, len(frames[i]), want)
				}
				checkFrame(t, frames[i])
			}

			sized.Sizes = bench.Sizes{tc.least - 1}
			_, err := Expand([]bench.Packet{sized}, noFiles)
			workloadtest.WantError(t, err, "packet 1: size", "bytes of its headers")
		})
	}
}

func TestTheSameBytesEveryTime(t *testing.T) {
	got := packets(t, bench.Packet{IPv4: &bench.IP{}, UDP: &bench.UDP{}})[0]
	checkFrame(t, got)
	want := "020000000002" + "020000000001" + "0800" +
		"4500002e" + "00004000" + "401126bd" + "0a000001" + "0a000002" +
		"c0000009" + "001ae35c" +
		"000102030405060708090a0b0c0d0e0f1011"
	if hex.EncodeToString(got) != want {
		t.Errorf("got  %x\nwant %s", got, want)
	}
}

func TestHeadersHoldWhatTheirDescriptionSays(t *testing.T) {
	frame := packets(t, bench.Packet{
		Eth:  &bench.Eth{Src: "02:00:00:00:00:0a", Dst: "ff:ff:ff:ff:ff:ff", VLAN: 4094},
		IPv6: &bench.IP{Src: addrRange(t, "2001:db8::7"), Dst: netip.MustParseAddr("2001:db8::8"), TTL: 3},
		TCP:  &bench.TCP{Src: 1234, Dst: 4321, Flags: []string{"syn", "ece", "cwr"}},
	})[0]
	p := checkFrame(t, frame)
	eth := p.Layer(layers.LayerTypeEthernet).(*layers.Ethernet)
	if eth.SrcMAC.String() != "02:00:00:00:00:0a" || eth.DstMAC.String() != "ff:ff:ff:ff:ff:ff" || eth.EthernetType != layers.EthernetTypeDot1Q {
		t.Errorf("Ethernet header is %+v", eth)
	}
	vlan := p.Layer(layers.LayerTypeDot1Q).(*layers.Dot1Q)
	if vlan.VLANIdentifier != 4094 || vlan.Type != layers.EthernetTypeIPv6 {
		t.Errorf("VLAN header is %+v", vlan)
	}
	ip := p.Layer(layers.LayerTypeIPv6).(*layers.IPv6)
	if ip.SrcIP.String() != "2001:db8::7" || ip.DstIP.String() != "2001:db8::8" || ip.HopLimit != 3 || ip.NextHeader != layers.IPProtocolTCP {
		t.Errorf("IPv6 header is %+v", ip)
	}
	tcp := p.Layer(layers.LayerTypeTCP).(*layers.TCP)
	if tcp.SrcPort != 1234 || tcp.DstPort != 4321 || !tcp.SYN || !tcp.ECE || !tcp.CWR || tcp.ACK || tcp.FIN {
		t.Errorf("TCP header is %+v", tcp)
	}
}

func TestEtherTypes(t *testing.T) {
	for name, tc := range map[string]struct {
		desc bench.Packet
		want uint16
	}{
		"alone": {bench.Packet{Eth: &bench.Eth{}}, 0x88b5},
		"given": {bench.Packet{Eth: &bench.Eth{Type: 0x88cc}, IPv4: &bench.IP{}}, 0x88cc},
		"ipv4":  {bench.Packet{IPv4: &bench.IP{}}, 0x0800},
		"ipv6":  {bench.Packet{Eth: &bench.Eth{}, IPv6: &bench.IP{}}, 0x86dd},
	} {
		frame := packets(t, tc.desc)[0]
		if got := binary.BigEndian.Uint16(frame[12:]); got != tc.want {
			t.Errorf("%s: type is %#04x, want %#04x", name, got, tc.want)
		}
	}
}

func TestEveryCombinationOfSourcesAndSizes(t *testing.T) {
	frames := packets(t,
		bench.Packet{Hex: "ffffffffffff 020000000001 0806"},
		bench.Packet{IPv4: &bench.IP{Src: addrRange(t, "10.0.0.8/31")}, UDP: &bench.UDP{}, Sizes: bench.Sizes{64, 128}},
		bench.Packet{IPv6: &bench.IP{Src: addrRange(t, "fd00::a-fd00::b")}},
	)
	var got []string
	for _, frame := range frames[1:] {
		p := checkFrame(t, frame)
		got = append(got, p.NetworkLayer().NetworkFlow().Src().String())
	}
	want := "10.0.0.8 10.0.0.8 10.0.0.9 10.0.0.9 fd00::a fd00::b"
	if strings.Join(got, " ") != want {
		t.Errorf("sources are %s, want %s", got, want)
	}
	for i, size := range []int{14, 64, 128, 64, 128, 60, 60} {
		if len(frames[i]) != size {
			t.Errorf("frame %d has %d bytes, want %d", i+1, len(frames[i]), size)
		}
	}
}

func TestHexAsPeoplePasteIt(t *testing.T) {
	want := "0200000000020200000000010800"
	for _, s := range []string{
		want,
		strings.ToUpper(want),
		"0x" + want,
		"02:00:00:00:00:02 02:00:00:00:00:01 0800",
		"\t0200 0000 0002\n0200 0000 0001\r\n0800\n",
		"0x02 0x00 0X00 00 00 02 02 00 00 00 00 01 08 00",
	} {
		if got := packets(t, bench.Packet{Hex: s})[0]; hex.EncodeToString(got) != want {
			t.Errorf("%q: got %x", s, got)
		}
	}
}

func TestDescriptionsThatAreRefused(t *testing.T) {
	ip, udp := &bench.IP{}, &bench.UDP{}
	v4, v6 := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("fd00::1")
	for name, tc := range map[string]struct {
		desc bench.Packet
		want string
	}{
		"nothing":          {bench.Packet{}, "describes nothing"},
		"a size alone":     {bench.Packet{Sizes: bench.Sizes{64}}, "describes nothing"},
		"hex and pcap":     {bench.Packet{Hex: "00", Pcap: "a.pcap"}, "has hex and pcap"},
		"hex and headers":  {bench.Packet{Hex: "00", Eth: &bench.Eth{}}, "has hex and headers"},
		"pcap and headers": {bench.Packet{Pcap: "a.pcap", UDP: udp}, "has pcap and headers"},
		"hex and size":     {bench.Packet{Hex: "00", Sizes: bench.Sizes{64}}, "size goes with headers"},
		"no hex digit":     {bench.Packet{Hex: "0g"}, `read hex: "0g" has other characters than 0-9 and a-f`},
		"half a byte":      {bench.Packet{Hex: "00 0"}, `"0" has an odd number of digits`},
		"0x inside":        {bench.Packet{Hex: "000x00"}, `read hex: "000x00"`},
		"only 0x":          {bench.Packet{Hex: "0x"}, "frame 1 has 0 bytes"},
		"too short":        {bench.Packet{Hex: strings.Repeat("00", 13)}, "frame 1 has 13 bytes, fewer than the 14"},
		"no file":          {bench.Packet{Pcap: "a.pcap"}, "read pcap: no file a.pcap"},
		"two families":     {bench.Packet{IPv4: ip, IPv6: ip}, "ipv4 and ipv6"},
		"two transports":   {bench.Packet{IPv4: ip, UDP: udp, TCP: &bench.TCP{}}, "udp and tcp"},
		"udp without ip":   {bench.Packet{UDP: udp}, "without ipv4 or ipv6"},
		"tcp without ip":   {bench.Packet{Eth: &bench.Eth{}, TCP: &bench.TCP{}}, "without ipv4 or ipv6"},
		"no flag":          {bench.Packet{IPv4: ip, TCP: &bench.TCP{Flags: []string{"SYN"}}}, `unknown flag "SYN"`},
		"no MAC":           {bench.Packet{Eth: &bench.Eth{Src: "02:00"}}, `src "02:00" is not a MAC address`},
		"long MAC":         {bench.Packet{Eth: &bench.Eth{Dst: "02:00:00:00:00:00:00:01"}}, "dst"},
		"no VLAN":          {bench.Packet{Eth: &bench.Eth{VLAN: 4095}}, "vlan 4095 is more than 4094"},
		"a length":         {bench.Packet{Eth: &bench.Eth{Type: 0x5ff}}, "type 0x05ff is below 0x0600"},
		"IPv6 in ipv4":     {bench.Packet{IPv4: &bench.IP{Dst: v6}}, "ipv4: fd00::1 is an address of the other family"},
		"IPv4 in ipv6":     {bench.Packet{IPv6: &bench.IP{Src: bench.AddrRange{First: v4, Last: v4}}}, "ipv6: 10.0.0.1"},
		"mixed range":      {bench.Packet{IPv4: &bench.IP{Src: bench.AddrRange{First: v4, Last: v6}}}, "ipv4: fd00::1"},
		"a zone":           {bench.Packet{IPv6: &bench.IP{Dst: v6.WithZone("eth0")}}, "has a zone"},
		"size 0":           {bench.Packet{IPv4: ip, Sizes: bench.Sizes{0}}, "size 0 is less than the 34 bytes"},
		"negative size":    {bench.Packet{IPv4: ip, Sizes: bench.Sizes{-1}}, "size -1"},
		"jumbo size":       {bench.Packet{IPv4: ip, Sizes: bench.Sizes{9217}}, "size 9217 is more than 9216"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Expand([]bench.Packet{{IPv4: ip}, tc.desc}, noFiles)
			workloadtest.WantError(t, err, "packet 2: ", tc.want)
		})
	}
}

func TestTooManyPackets(t *testing.T) {
	half := bench.Packet{IPv4: &bench.IP{Src: addrRange(t, "10.0.0.0/21")}}
	one := bench.Packet{Hex: strings.Repeat("00", 14)}
	most := packets(t, half, half)
	if len(most) != bench.MaxPackets {
		t.Errorf("got %d packets, want %d", len(most), bench.MaxPackets)
	}

	sized := half
	sized.Sizes = bench.Sizes{60, 61, 62}
	for name, descs := range map[string][]bench.Packet{
		"in all":          {half, half, one},
		"by combinations": {one, sized},
		"by sizes":        {{Eth: &bench.Eth{}, Sizes: slices.Repeat(bench.Sizes{60}, bench.MaxPackets+1)}},
		"not yet counted": {{IPv6: &bench.IP{Src: bench.AddrRange{First: netip.IPv6Unspecified(), Last: netip.MustParseAddr("ffff::")}}}},
		"full by headers": {half, half, {Eth: &bench.Eth{}}},
	} {
		_, err := Expand(descs, noFiles)
		workloadtest.WantError(t, err, "more than 4096 packets")
		if bench.Hint(err) == "" {
			t.Errorf("%s: no hint", name)
		}
	}
}

func TestNoDescriptionsAreNoPackets(t *testing.T) {
	if frames := packets(t); len(frames) != 0 {
		t.Errorf("got %d packets", len(frames))
	}
}

func FuzzHex(f *testing.F) {
	for _, s := range []string{"", "00", "0x", "0X02:00 00", "ff:ff:ff:ff:ff:ff 02:00:00:00:00:01 0806", "0g", "0x0x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		frame, err := Hex(s)
		if err != nil {
			return
		}
		again, err := Hex(hex.EncodeToString(frame))
		if err != nil || !bytes.Equal(again, frame) {
			t.Errorf("%q is %x, but that is %x, error %v", s, frame, again, err)
		}
		if len(frame) > len(s)/2 {
			t.Errorf("%q is %x, which has more bytes than digits", s, frame)
		}
	})
}

func FuzzHeaders(f *testing.F) {
	f.Add(uint16(0), uint16(0), byte(4), byte('u'), uint16(53), uint16(53), byte(64), "10.0.0.0/30", "10.0.0.2", "syn", 64)
	f.Add(uint16(5), uint16(0), byte(6), byte('t'), uint16(0), uint16(443), byte(1), "fd00::1-fd00::4", "::", "ack", 1500)
	f.Add(uint16(0), uint16(0x86dd), byte(0), byte(0), uint16(0), uint16(0), byte(0), "", "", "", 14)
	f.Fuzz(func(t *testing.T, vlan, etherType uint16, family, transport byte, src, dst uint16, ttl byte, from, to, flag string, size int) {
		desc := bench.Packet{Eth: &bench.Eth{VLAN: vlan, Type: etherType}}
		ip := &bench.IP{TTL: ttl}
		if ip.Src.UnmarshalText([]byte(from)) != nil {
			ip.Src = bench.AddrRange{}
		}
		ip.Dst, _ = netip.ParseAddr(to)
		switch family {
		case 4:
			desc.IPv4 = ip
		case 6:
			desc.IPv6 = ip
		}
		switch transport {
		case 'u':
			desc.UDP = &bench.UDP{Src: src, Dst: dst}
		case 't':
			desc.TCP = &bench.TCP{Src: src, Dst: dst, Flags: []string{flag}}
		}
		if size != 0 {
			desc.Sizes = bench.Sizes{size}
		}

		frames, err := Expand([]bench.Packet{desc}, noFiles)
		if err != nil {
			if frames != nil {
				t.Error("packets beside an error")
			}
			return
		}
		for _, frame := range frames {
			switch {
			case size != 0 && len(frame) != size:
				t.Errorf("frame has %d bytes, want %d", len(frame), size)
			case size == 0 && len(frame) < defaultSize:
				t.Errorf("frame has %d bytes, want %d or more", len(frame), defaultSize)
			}
		}
		// A payload that looks like another protocol may not be one. So decode
		// only the requested headers.
		if etherType == 0 && family != 0 {
			p := gopacket.NewPacket(frames[0], layers.LayerTypeEthernet, gopacket.Lazy)
			for _, want := range []gopacket.LayerType{layers.LayerTypeIPv4, layers.LayerTypeIPv6, layers.LayerTypeUDP, layers.LayerTypeTCP} {
				asked := map[gopacket.LayerType]bool{
					layers.LayerTypeIPv4: desc.IPv4 != nil,
					layers.LayerTypeIPv6: desc.IPv6 != nil,
					layers.LayerTypeUDP:  desc.UDP != nil,
					layers.LayerTypeTCP:  desc.TCP != nil,
				}[want]
				if asked && p.Layer(want) == nil {
					t.Errorf("%x has no %s", frames[0], want)
				}
			}
			checkSums(t, p)
		}
	})
}

func BenchmarkPackets(b *testing.B) {
	desc := bench.Packet{
		IPv4:  &bench.IP{Src: addrRange(b, "10.0.0.0/24")},
		TCP:   &bench.TCP{Flags: []string{"syn"}},
		Sizes: bench.Sizes{64, 512, 1514},
	}
	size := 0
	for _, frame := range packets(b, desc) {
		size += len(frame)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Expand([]bench.Packet{desc}, noFiles); err != nil {
			b.Fatal(err)
		}
	}
}
