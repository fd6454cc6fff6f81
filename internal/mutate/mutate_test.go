package mutate

import (
	"bytes"
	"math/rand/v2"
	"net"
	"slices"
	"testing"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
)

// What Complete sets is what gopacket does, whatever was there.
func TestComplete(t *testing.T) {
	eth := func(ether layers.EthernetType) *layers.Ethernet {
		return &layers.Ethernet{SrcMAC: make(net.HardwareAddr, 6), DstMAC: make(net.HardwareAddr, 6), EthernetType: ether}
	}
	v4 := func(p layers.IPProtocol) *layers.IPv4 {
		return &layers.IPv4{Version: 4, IHL: 5, TTL: 64, Protocol: p, SrcIP: net.IP{10, 0, 0, 1}, DstIP: net.IP{10, 0, 0, 2}}
	}
	v6 := func(p layers.IPProtocol) *layers.IPv6 {
		return &layers.IPv6{Version: 6, NextHeader: p, HopLimit: 64, SrcIP: net.ParseIP("fd00::1"), DstIP: net.ParseIP("fd00::2")}
	}
	udp, tcp := &layers.UDP{SrcPort: 1, DstPort: 2}, &layers.TCP{SrcPort: 1, DstPort: 2, DataOffset: 5}
	for name, headers := range map[string][]gopacket.SerializableLayer{
		"UDP over IPv4":    {eth(layers.EthernetTypeIPv4), v4(layers.IPProtocolUDP), udp},
		"TCP over IPv4":    {eth(layers.EthernetTypeIPv4), v4(layers.IPProtocolTCP), tcp},
		"ICMP":             {eth(layers.EthernetTypeIPv4), v4(layers.IPProtocolICMPv4), &layers.ICMPv4{TypeCode: layers.CreateICMPv4TypeCode(8, 0)}},
		"UDP over IPv6":    {eth(layers.EthernetTypeIPv6), v6(layers.IPProtocolUDP), udp},
		"TCP over IPv6":    {eth(layers.EthernetTypeIPv6), v6(layers.IPProtocolTCP), tcp},
		"ICMPv6":           {eth(layers.EthernetTypeIPv6), v6(layers.IPProtocolICMPv6), &layers.ICMPv6{TypeCode: layers.CreateICMPv6TypeCode(128, 0)}},
		"TCP behind a tag": {eth(layers.EthernetTypeDot1Q), &layers.Dot1Q{VLANIdentifier: 5, Type: layers.EthernetTypeIPv4}, v4(layers.IPProtocolTCP), tcp},
	} {
		for _, payload := range []string{"", "odd", "some payload"} {
			for _, h := range headers {
				switch n := h.(type) {
				case *layers.IPv4, *layers.IPv6:
					_ = udp.SetNetworkLayerForChecksum(n.(gopacket.NetworkLayer))
					_ = tcp.SetNetworkLayerForChecksum(n.(gopacket.NetworkLayer))
				case *layers.ICMPv6:
					_ = n.SetNetworkLayerForChecksum(headers[1].(gopacket.NetworkLayer))
				}
			}
			b := gopacket.NewSerializeBuffer()
			all := append(slices.Clone(headers), gopacket.Payload(make([]byte, 60)), gopacket.Payload(payload)) // a frame has 60 bytes
			if err := gopacket.SerializeLayers(b, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}, all...); err != nil {
				t.Fatal(err)
			}
			want := b.Bytes()
			got := bytes.Clone(want)
			l := layoutOf(got)
			for _, at := range completed(&l) {
				got[at], got[at+1] = 0xa5, 0x5a
			}
			if bytes.Equal(got, want) {
				t.Fatal("nothing is there to complete")
			}
			Complete(got, true)
			if !bytes.Equal(got, want) {
				t.Errorf("%s, %q:\n%x, want\n%x", name, payload, got, want)
			}
		}
	}
}

// completed returns where the lengths and checksums of a frame are.
func completed(l *layout) []int {
	at := []int{l.network + 4}
	if l.ether == etherIPv4 {
		at = []int{l.network + 2, l.network + 10}
	}
	switch l.protocol {
	case protoUDP:
		return append(at, l.transport+4, l.transport+6)
	case protoTCP:
		return append(at, l.transport+16)
	}
	return append(at, l.transport+2)
}

// The same random numbers make the same frames, which leave the given one alone and are
// as long as frames may be. Among them are all kinds of headers.
func TestFrame(t *testing.T) {
	frames := Frames()
	seen := map[string]int{}
	a, b := &Mutator{rand.New(rand.NewPCG(1, 1)), 1514}, &Mutator{rand.New(rand.NewPCG(1, 1)), 1514}
	for i := range 20000 {
		from, other := frames[i%len(frames)], frames[i/7%len(frames)]
		was := bytes.Clone(from)
		got := a.Frame(from, other)
		if !bytes.Equal(got, b.Frame(from, other)) {
			t.Fatal("the same numbers make another frame")
		}
		if !bytes.Equal(from, was) {
			t.Fatal("the given frame has changed")
		}
		if len(got) < MinFrame || len(got) > 1514 {
			t.Fatalf("a frame of %d bytes", len(got))
		}
		p := gopacket.NewPacket(got, layers.LayerTypeEthernet, gopacket.Default)
		kinds := map[string]bool{}
		for _, l := range p.Layers() {
			kinds[l.LayerType().String()] = true
			switch l := l.(type) {
			case *layers.IPv4:
				kinds["IPv4 options"] = l.IHL > 5
			case *layers.TCP:
				kinds["TCP options"] = l.DataOffset > 5
			}
		}
		for kind, yes := range kinds {
			if yes {
				seen[kind]++
			}
		}
	}
	for _, want := range []string{"Dot1Q", "IPv4", "IPv4 options", "IPv6", "IPv6HopByHop", "IPv6Fragment", "IPv6Destination", "TCP", "TCP options", "UDP", "ICMPv4", "ICMPv6", "ARP", "GRE", "DNS", "SCTP"} {
		if seen[want] < 20 {
			t.Errorf("%d of 20000 frames have %s", seen[want], want)
		}
	}
}

func FuzzFrame(f *testing.F) {
	for _, frame := range Frames() {
		f.Add(frame, uint64(1))
	}
	f.Fuzz(func(t *testing.T, frame []byte, seed uint64) {
		m := &Mutator{rand.New(rand.NewPCG(seed, 1)), 1514}
		got := m.Frame(frame, frame)
		was := len(got)
		Complete(got, true)
		m.Bytes(got)
		if len(got) != was {
			t.Errorf("completed, a frame of %d bytes has %d", was, len(got))
		}
		Complete(frame, seed%2 == 0)
	})
}

func BenchmarkFrame(b *testing.B) {
	m := &Mutator{rand.New(rand.NewPCG(1, 1)), 1514}
	frames := Frames()
	for i := 0; b.Loop(); i++ {
		Complete(m.Frame(frames[i%len(frames)], frames[0]), true)
	}
}
