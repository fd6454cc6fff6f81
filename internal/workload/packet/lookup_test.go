package packet

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
)

func TestSkLookup(t *testing.T) {
	v4 := bench.IP{Src: addr("10.1.2.3"), Dst: netip.MustParseAddr("10.0.0.9")}
	v6 := bench.IP{Src: addr("fd00::1"), Dst: netip.MustParseAddr("fd00::2")}
	zeros := func(n int) string { return strings.Repeat("00", n) }
	for name, c := range map[string]struct {
		packet bench.Packet
		want   string
	}{
		"tcp on IPv4": {
			bench.Packet{IPv4: &v4, TCP: &bench.TCP{Src: 0x1234, Dst: 443}},
			zeros(8) + "02000000" + "06000000" + "0a010203" + zeros(16) + "12340000" + "0a000009" + zeros(16) + "bb010000" + zeros(8),
		},
		"udp on IPv6, tagged": {
			bench.Packet{Eth: &bench.Eth{VLAN: 7}, IPv6: &v6, UDP: &bench.UDP{Src: 53, Dst: 0x1234}},
			zeros(8) + "0a000000" + "11000000" + zeros(4) + "fd00" + zeros(13) + "01" + "00350000" + zeros(4) + "fd00" + zeros(13) + "02" + "34120000" + zeros(8),
		},
	} {
		t.Run(name, func(t *testing.T) {
			frames, err := Expand([]bench.Packet{c.packet}, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := SkLookup(frames[0])
			if err != nil || fmt.Sprintf("%x", got) != c.want {
				t.Errorf("got  %x (%v)\nwant %s", got, err, c.want)
			}
		})
	}
}

func addr(s string) bench.AddrRange {
	a := netip.MustParseAddr(s)
	return bench.AddrRange{First: a, Last: a}
}

func FuzzSkLookup(f *testing.F) {
	f.Add(append([]byte{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0}, make([]byte, 50)...))
	f.Fuzz(func(t *testing.T, frame []byte) {
		if got, err := SkLookup(frame); err == nil && len(got) != 72 {
			t.Errorf("a context of %d bytes", len(got))
		}
	})
}
