package runner

import (
	"testing"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/pmu"
	"github.com/org/ebpf-bench-action/internal/testenv"
)

// A program whose runs are counted is held where calls have several runs, of which
// each would wait for all CPUs, and else does without.
func TestCountedProgramsAreHeldForLongCalls(t *testing.T) {
	testenv.Root(t)
	packets := []bench.Packet{{Hex: "00112233445566778899aabb0800"}, {Hex: "00112233445566778899aabb86dd"}}
	job := resolved(t, &ebpf.ProgramSpec{Type: ebpf.XDP, Instructions: returns(2)}, bench.Benchmark{TestRun: &bench.TestRun{Packets: packets}})
	onThread(t, func(*environment) {
		env := &environment{exact: true, late: true, counters: &pmu.Counters{}}
		defer env.Close()
		s, err := openSubject(t.Context(), env, job)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		d := s.driver.(*testRun)
		for _, c := range []struct {
			runs int
			held bool
		}{{2, false}, {20, true}, {2, true}} {
			d.resize(func(int) int { return c.runs })
			if err := s.drive(t.Context()); err != nil {
				t.Fatal(err)
			}
			if held := d.hold == nil && len(d.closers) == 1; held != c.held {
				t.Errorf("%d runs: held %t, want %t", c.runs, held, c.held)
			}
		}
	})
}

func TestPacketsHaveTheSameShare(t *testing.T) {
	for _, c := range []struct{ repeat, packets, want int }{
		{2000, 1, 2000}, {2000, 4, 500}, {2000, 3, 667}, {2000, 1024, 2}, {2000, 256, 8}, {10, 100, 1}, {1, 1, 1},
	} {
		if got := share(c.repeat, c.packets); got != c.want {
			t.Errorf("%d runs for %d packets: %d each, want %d", c.repeat, c.packets, got, c.want)
		}
	}
}
