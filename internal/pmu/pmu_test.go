package pmu

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/testenv"
)

// Every kernel counts these, even if the machine has no hardware counters.
var software = []Event{
	{bench.Measure{Name: "task-clock"}, unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_TASK_CLOCK},
	{bench.Measure{Name: "none"}, unix.PERF_TYPE_SOFTWARE, 1 << 20},
	{bench.Measure{Name: "switches"}, unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_CONTEXT_SWITCHES},
}

func TestCountersCount(t *testing.T) {
	testenv.Root(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c, err := Open(software)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if m := c.Measures(); len(m) != 2 || m[0].Name != "task-clock" || m[1].Name != "switches" {
		t.Fatalf("counts %v, want all but the event that does not exist", m)
	}
	before, err := c.Read()
	if err != nil {
		t.Fatal(err)
	}
	const naps = 5
	for range naps {
		if err := unix.Nanosleep(&unix.Timespec{Nsec: 1_000_000}, nil); err != nil {
			t.Fatal(err)
		}
	}
	after, err := c.Read()
	if err != nil {
		t.Fatal(err)
	}
	if n, ok := after[0].Since(before[0]); !ok || n <= 0 {
		t.Errorf("%v ns of CPU time, counted %v", n, ok)
	}
	if n, ok := after[1].Since(before[1]); !ok || n < naps {
		t.Errorf("%v switches, counted %v, want at least %d", n, ok, naps)
	}
}

func TestSharedCountersAreEstimated(t *testing.T) {
	if n, ok := (Reading{30, 400, 110}).Since(Reading{10, 200, 10}); !ok || n != 40 {
		t.Errorf("got %v, %v of 20 events in half of the time", n, ok)
	}
	if n, ok := (Reading{10, 400, 10}).Since(Reading{10, 200, 10}); ok {
		t.Errorf("got %v though nothing was counted", n)
	}
}

// All events that this machine has open; a virtual machine has none.
func TestHardware(t *testing.T) {
	testenv.Root(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c, err := Open(Hardware)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if len(c.Measures()) == 0 {
		t.Log("this machine has no hardware counters")
	}
	if _, err := c.Read(); err != nil {
		t.Error(err)
	}
}
