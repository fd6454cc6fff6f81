package bench

import (
	"math"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

func TestAddrRange(t *testing.T) {
	for text, want := range map[string]struct {
		first, last string
		n           int
	}{
		"10.0.0.1":              {"10.0.0.1", "10.0.0.1", 1},
		"10.0.0.1-10.0.0.4":     {"10.0.0.1", "10.0.0.4", 4},
		" 10.0.0.1 - 10.0.0.4 ": {"10.0.0.1", "10.0.0.4", 4},
		"10.0.0.0/30":           {"10.0.0.0", "10.0.0.3", 4},
		"10.0.0.7/30":           {"10.0.0.4", "10.0.0.7", 4},
		"10.0.0.9/32":           {"10.0.0.9", "10.0.0.9", 1},
		"10.0.0.0/20":           {"10.0.0.0", "10.0.15.255", MaxPackets},
		"255.255.255.0/24":      {"255.255.255.0", "255.255.255.255", 256},
		"fd00::1":               {"fd00::1", "fd00::1", 1},
		"fd00::fffe-fd00::1:1":  {"fd00::fffe", "fd00::1:1", 4},
		"fd00::/126":            {"fd00::", "fd00::3", 4},
	} {
		var r AddrRange
		if err := r.UnmarshalText([]byte(text)); err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if r.First != netip.MustParseAddr(want.first) || r.Last != netip.MustParseAddr(want.last) {
			t.Errorf("%q: got %s to %s, want %s to %s", text, r.First, r.Last, want.first, want.last)
		}
		if r.Len() != want.n || len(r.All()) != want.n {
			t.Errorf("%q: has %d addresses and lists %d, want %d", text, r.Len(), len(r.All()), want.n)
		}
	}
}

func TestAddrRangesThatAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                     "is not an address",
		"localhost":            "is not an address",
		"10.0.0":               "is not an address",
		"10.0.0.1-":            "is not an address",
		"-10.0.0.1":            "is not an address",
		"10.0.0.1-2":           "is not an address",
		"10.0.0.0/33":          "is not an address",
		"10.0.0.0/30-10.0.0.9": "is not an address",
		"10.0.0.1-fd00::1":     "mixes IPv4 and IPv6",
		"fe80::1%eth0":         "zone",
		"10.0.0.2-10.0.0.1":    "ends before it begins",
		"10.0.0.0/19":          "more than 4096 addresses",
		"0.0.0.0/0":            "more than 4096 addresses",
		"::/0":                 "more than 4096 addresses",
		"fd00::-fd00::1000":    "more than 4096 addresses",
		"fd00::-fd01::":        "more than 4096 addresses",
	} {
		var r AddrRange
		err := r.UnmarshalText([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got error %v, want %q", text, err, want)
		}
	}
}

func TestTheZeroAddrRangeIsEmpty(t *testing.T) {
	if r := (AddrRange{}); r.Len() != 0 || len(r.All()) != 0 {
		t.Errorf("has %d addresses: %v", r.Len(), r.All())
	}
}

func TestAddrRangeLenDoesNotOverflow(t *testing.T) {
	last := netip.MustParseAddr("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")
	for _, first := range []string{"::", "ffff:ffff:ffff:ffff::"} {
		if n := (AddrRange{netip.MustParseAddr(first), last}).Len(); n != math.MaxInt {
			t.Errorf("from %s: %d", first, n)
		}
	}
}

func FuzzAddrRange(f *testing.F) {
	for _, text := range []string{"10.0.0.1", "10.0.0.1-10.0.0.4", "10.0.0.0/30", "fd00::/120", "::ffff:10.0.0.1-::ffff:10.0.0.9", "fe80::1%-", "/", "-"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var r AddrRange
		if r.UnmarshalText([]byte(text)) != nil {
			return
		}
		all := r.All()
		if len(all) == 0 || len(all) > MaxPackets || len(all) != r.Len() {
			t.Fatalf("%q: has %d addresses and lists %d", text, r.Len(), len(all))
		}
		if all[0] != r.First || all[len(all)-1] != r.Last || !slices.IsSortedFunc(all, netip.Addr.Compare) {
			t.Errorf("%q: lists %v", text, all)
		}
		var again AddrRange
		if err := again.UnmarshalText([]byte(r.First.String() + "-" + r.Last.String())); err != nil || again != r {
			t.Errorf("%q: %v read again is %v, error %v", text, r, again, err)
		}
	})
}
