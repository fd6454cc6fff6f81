package thresholds

import (
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/stat"
)

func TestChangesInLargerUnits(t *testing.T) {
	for v, want := range map[float64]string{0.8: "+0.80 ns", -999: "-999 ns", 999.6: "+1.00 µs", -2338836: "-2.34 ms", 4.5e9: "+4.50 s"} {
		if got := By(v, bench.Latency); got != want {
			t.Errorf("%g ns: %q, want %q", v, got, want)
		}
	}
	if got := By(2338836, bench.BPFInsns); got != "+2338836 instructions" {
		t.Errorf("a count: %q", got)
	}
	c := &stat.Change{Measure: bench.Latency}
	c.By.Low, c.By.High = -12, 1591
	if got, want := IntervalBy(c), "-0.01..+1.59 µs"; got != want {
		t.Errorf("interval %q, want %q", got, want)
	}
}
