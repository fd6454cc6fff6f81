package vethpair

import "testing"

// BenchmarkTestRun measures a test_run with a repeat of 2, which is mostly its
// set-up.
func BenchmarkTestRun(b *testing.B) {
	for _, isHeld := range []bool{true, false} {
		b.Run(map[bool]string{true: "held", false: "not held"}[isHeld], func(b *testing.B) {
			prog := newXDP(b, "bench", xdpPass)
			if isHeld {
				hold(b, newParking(b), prog)
			}
			for b.Loop() {
				testRun(b, prog)
			}
		})
	}
}

// BenchmarkHold measures holding one program after another.
func BenchmarkHold(b *testing.B) {
	p := newParking(b)
	for b.Loop() {
		b.StopTimer()
		prog := newXDP(b, "bench", xdpPass)
		b.StartTimer()
		if err := hold(b, p, prog).Close(); err != nil {
			b.Fatal(err)
		}
	}
}
