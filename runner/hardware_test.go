package runner

import (
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/pmu"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
)

// countTaskClock substitutes CPU time, which every kernel counts, for cycles,
// which few virtual machines have: a longer run takes more of it.
func countTaskClock(t *testing.T) {
	all := driver.HardwareEvents
	t.Cleanup(func() { driver.HardwareEvents = all })
	driver.HardwareEvents = []pmu.Event{
		{Measure: bench.Cycles, Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_TASK_CLOCK},
		{Measure: bench.TLBMisses, Type: unix.PERF_TYPE_SOFTWARE, Config: 1 << 20}, // no such event exists
	}
}

func TestHardwareCountersAreReadAroundTestRun(t *testing.T) {
	countTaskClock(t)
	run := measure(t, objects+`
  - {name: quick, program: fun_xdp_basic, test_run: {}}
  - {name: slow, program: fun_xdp_fibonacci_slow, test_run: {packets: [{ipv4: {src: 10.0.0.255}, udp: {}}]}}
`, Options{Rounds: 20, Loads: 2, Seed: 1})
	if got := run.Testbed.HardwareCounters; !slices.Equal(got, []string{"cycles"}) {
		t.Errorf("the testbed counts %v, want just cycles", got)
	}
	median := map[string]float64{}
	for _, r := range run.Results {
		if r.Error != "" {
			t.Fatalf("%s: %s", r.Benchmark, r.Error)
		}
		s := r.Sample(bench.Cycles.Name)
		if s == nil || len(s.Values) != 20 {
			t.Fatalf("%s: %+v, want a value a round", r.Benchmark, s)
		}
		median[r.Benchmark] = medianOf(t, &r, s)
	}
	slowIsDearer(t, median)
}

// medianOf returns the median of a result's only hardware counter.
func medianOf(t *testing.T, r *bench.Result, s *bench.Sample) float64 {
	t.Helper()
	if r.Sample(bench.TLBMisses.Name) != nil {
		t.Errorf("%s has what the machine does not count", r.Benchmark)
	}
	values := slices.Sorted(slices.Values(s.Values))
	return values[len(values)/2]
}

// slowIsDearer checks the medians of a slow program and a quick one.
func slowIsDearer(t *testing.T, median map[string]float64) {
	t.Helper()
	if median["slow"] < 2*median["quick"] || median["slow"] < 50 {
		t.Errorf("the slow program takes %.0f ns of CPU time, the quick one %.0f", median["slow"], median["quick"])
	}
}
