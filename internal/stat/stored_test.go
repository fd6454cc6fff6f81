package stat

import (
	"slices"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
)

func ingested(measure bench.Measure, values ...float64) *bench.Result {
	return &bench.Result{Benchmark: "a", Driver: bench.DriverGo, Samples: []bench.Sample{{Measure: measure, Values: values}}}
}

// Each value of another tool is a separate measurement, like one load.
func TestIngestedValuesAreLoads(t *testing.T) {
	base := ingested(bench.Latency, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19)
	head := ingested(bench.Latency, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29)
	c, err := CompareStored(base, head, "latency", 0.99)
	if err != nil || c.Base != 14.5 || c.Head != 24.5 || c.Delta != 10 || c.Loads != 10 || !c.Bounded() || c.P > 0.001 || c.Low <= 1 {
		t.Errorf("%+v, %v", c, err)
	}
	// The most extreme order of 5 and 5 values has the probability 2/252 by chance, that of
	// 4 and 5 has 2/126.
	for n, bounded := range map[int]bool{4: false, 5: true} {
		few, err := CompareStored(ingested(bench.Latency, base.Samples[0].Values[:n]...), ingested(bench.Latency, head.Samples[0].Values[:5]...), "latency", 0.99)
		if err != nil || few.Bounded() != bounded {
			t.Errorf("%d and 5 values: %+v, %v", n, few, err)
		}
	}
	if c, err := CompareStored(base, base, "latency", 0.99); err != nil || c.Delta != 0 || c.P < 0.9 {
		t.Errorf("%+v, %v", c, err)
	}
	custom := bench.Measure{Name: "records/s", Unit: "records/s", Direction: bench.HigherIsBetter}
	if v, err := LoadMedians(ingested(custom, 3, 1, 2), custom.Name); err != nil || !slices.Equal(v, []float64{3, 1, 2}) {
		t.Errorf("%v, %v", v, err)
	}
	if _, err := CompareStored(base, ingested(bench.HeapBytes, 1), "latency", 0.99); err == nil {
		t.Error("a side without the measure is compared")
	}
	if c, err := CompareStored(ingested(bench.Latency, 10), ingested(bench.Latency, 20), "latency", 0.99); err != nil || c.Bounded() || !strings.Contains(strings.Join(c.Warnings, ";"), "1 and 1 measurements are too few") {
		t.Errorf("%+v, %v", c, err)
	}
}
