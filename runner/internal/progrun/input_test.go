package progrun

import (
	"fmt"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
)

func TestAnXDPContextNeedsNoEnd(t *testing.T) {
	for _, c := range []struct{ given, want string }{
		{"", ""},
		{"00000000", "00000000400000000000000000000000" + "0000000000000000"},
		{"0400000000000000", "04000000400000000000000000000000" + "0000000000000000"},
		{"0000000010000000", "00000000100000000000000000000000" + "0000000000000000"},
	} {
		given, err := ContextBytes(&bench.Context{Hex: c.given})
		if err != nil {
			t.Fatal(err)
		}
		got, err := xdpContext(given, make([]byte, 64))
		if err != nil || fmt.Sprintf("%x", got) != c.want {
			t.Errorf("%s: got %x (%v), want %s", c.given, got, err, c.want)
		}
	}
}
