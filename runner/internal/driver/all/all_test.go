package all

import (
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
)

// Every driver of a suite has a way to run programs, with what measuring asks of it.
func TestEveryDriverIsRegistered(t *testing.T) {
	for _, name := range bench.Drivers() {
		var b bench.Benchmark
		b.SetDriver(name)
		switch k := (&plan.Job{Benchmark: &b}).Kind(); {
		case k == nil:
			t.Errorf("driver %s is not registered", name)
		case k.Open == nil:
			t.Errorf("nothing opens driver %s", name)
		case name != bench.DriverVerify && (k.Check == nil || k.Alike == nil || k.NeverRan == nil):
			t.Errorf("driver %s lacks Check, Alike or NeverRan", name)
		case (k.Lacks == nil) != (k.Instead == nil):
			t.Errorf("driver %s has one of Lacks and Instead", name)
		case (k.Packets == nil) != (k.Runs == nil):
			t.Errorf("driver %s has one of Packets and Runs", name)
		}
	}
}
