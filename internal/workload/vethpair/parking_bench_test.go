package vethpair

import "testing"

// BenchmarkTestRun is what a test_run with a repeat of 2 takes, which is its
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

// BenchmarkHold is what it costs to hold one program after another.
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
