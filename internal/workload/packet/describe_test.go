package packet

import (
	"encoding/hex"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
)

func TestDescribe(t *testing.T) {
	for _, c := range []struct {
		is   bench.Packet
		want string
	}{
		{bench.Packet{IPv4: &bench.IP{}, UDP: &bench.UDP{Src: 4000, Dst: 53}}, "IPv4 10.0.0.1 > 10.0.0.2, UDP 4000 > 53"},
		{bench.Packet{Eth: &bench.Eth{VLAN: 7}, IPv6: &bench.IP{}, TCP: &bench.TCP{Src: 1, Dst: 2}}, "VLAN 7, IPv6 fd00::1 > fd00::2, TCP 1 > 2"},
		{bench.Packet{IPv4: &bench.IP{}}, "IPv4 10.0.0.1 > 10.0.0.2"},
		{bench.Packet{Eth: &bench.Eth{}}, "Ethernet type 0x88b5"},
		{bench.Packet{Eth: &bench.Eth{Type: 0x0806}}, "ARP"},
		{bench.Packet{Hex: "02 00 00 00 00 02 02 00 00 00 00 01 08 00 45 00"}, "IPv4, truncated"},
		{bench.Packet{Hex: "02 00 00 00 00 02 02 00 00 00 00 01 08 00 46 00 00 18 00 00 20 00 40 11 00 00 0a 00 00 01 0a 00 00 02 01 01 01 01"}, "IPv4 10.0.0.1 > 10.0.0.2 with options, a fragment"},
	} {
		frames, err := Expand([]bench.Packet{c.is}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := Describe(frames[0]); got != c.want {
			t.Errorf("%s is %q, want %q", hex.EncodeToString(frames[0]), got, c.want)
		}
	}
	if got := Describe(nil); got == "" {
		t.Error("nothing is described as nothing")
	}
}

// Whatever a frame holds, it is described in printable text.
func FuzzDescribe(f *testing.F) {
	f.Add([]byte{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0, 0x45})
	f.Fuzz(func(t *testing.T, frame []byte) {
		text := Describe(frame)
		for _, r := range text {
			if r < ' ' || r > '~' {
				t.Errorf("%x is %q", frame, text)
			}
		}
		if len(text) > 1000 || text == "" {
			t.Errorf("%x is %q", frame, text)
		}
	})
}
