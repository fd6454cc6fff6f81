package vethpair

import (
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/testenv"
)

func BenchmarkNew(b *testing.B) {
	testenv.Root(b)
	for b.Loop() {
		v, err := New(bench.XDPNative, bench.Ingress)
		if err != nil {
			b.Fatal(err)
		}
		if err := v.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAttach measures replacing a program by another.
func BenchmarkAttach(b *testing.B) {
	for _, isHeld := range []bool{true, false} {
		b.Run(map[bool]string{true: "held", false: "not held"}[isHeld], func(b *testing.B) {
			v, p := newPair(b, bench.XDPNative), newParking(b)
			base, head := newXDP(b, "base", xdpDrop), newXDP(b, "head", xdpDrop)
			if isHeld {
				hold(b, p, base)
				hold(b, p, head)
			}
			attach(b, v, base)
			for b.Loop() {
				attach(b, v, head)
				base, head = head, base
			}
		})
	}
}

func BenchmarkSettle(b *testing.B) {
	v := newPair(b, bench.XDPNative)
	prog := newXDP(b, "drop", xdpDrop)
	for b.Loop() {
		if _, err := v.Settle(b.Context(), 0, func() (uint64, error) { return runCount(b, prog), nil }); err != nil {
			b.Fatal(err)
		}
	}
}
