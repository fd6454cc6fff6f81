package vethpair

import (
	"fmt"
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// BenchmarkSend reports the cost of a packet, by sender and by the program's
// action. Each operation is one packet.
func BenchmarkSend(b *testing.B) {
	packetSets := []struct {
		name   string
		frames [][]byte
	}{
		{"1x64B", frames(1, 64, 64)},
		{"16x64B", frames(16, 64, 64)},
		{"16x64-1500B", frames(16, 64, 1500)},
		{"4096x64B", frames(4096, 64, 64)},
	}
	actions := []struct {
		name   string
		action int32
	}{{"drop", xdpDrop}, {"pass", xdpPass}, {"tx", xdpTX}}

	for _, sender := range senders {
		for _, mode := range modes {
			for _, set := range packetSets {
				for _, a := range actions {
					b.Run(fmt.Sprintf("%s/%s/%s/%s", sender, mode, set.name, a.name), func(b *testing.B) {
						benchmarkSend(b, sender, mode, set.frames, a.action)
					})
				}
			}
		}
	}
}

// benchmarkSend sends in portions as large as those of a round. The fastest
// shows what is possible on an otherwise idle machine.
func benchmarkSend(b *testing.B, sender string, mode bench.VethMode, frames [][]byte, action int32) {
	const portion = 20_000
	v := newPair(b, mode)
	prog := newXDP(b, "bench", action)
	attach(b, v, prog)
	s := newSender(b, v, sender, frames...)
	drive(b, v, s, prog, 1000)

	var total bench.Traffic
	best := time.Hour
	b.ResetTimer()
	for left := b.N; left > 0; left -= portion {
		start := time.Now()
		traffic := drive(b, v, s, prog, min(left, portion))
		if left >= portion {
			best = min(best, time.Since(start))
		}
		total.Dropped += traffic.Dropped
		total.Unaccounted += traffic.Unaccounted
	}
	b.ReportMetric(portion/best.Seconds()/1e6, "best-Mpps")
	b.ReportMetric(float64(total.Dropped), "dropped")
	b.ReportMetric(float64(total.Unaccounted), "unaccounted")
}

// BenchmarkSendOne measures the cost of a Send besides its packets.
func BenchmarkSendOne(b *testing.B) {
	for _, sender := range senders {
		b.Run(sender, func(b *testing.B) {
			v := newPair(b, bench.XDPNative)
			attach(b, v, newXDP(b, "bench", xdpDrop))
			s := newSender(b, v, sender, frame(64, 0))
			for b.Loop() {
				if _, err := s.Send(b.Context(), 1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// frames returns n frames whose lengths spread from shortest to longest.
func frames(n, shortest, longest int) [][]byte {
	all := make([][]byte, n)
	for i := range all {
		all[i] = frame(shortest+(longest-shortest)*i/max(n-1, 1), byte(i))
	}
	return all
}
