package measured

import (
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// A value and its limit never have the same text, and no unit appears twice.
func TestOverBudget(t *testing.T) {
	for _, c := range []struct {
		measure     bench.Measure
		value, most float64
		want        string
	}{
		{bench.InstructionsPath, 1882, 1881, "instructions-path: 1,882, over the maximum of 1,881"},
		{bench.Instructions, 306.0781, 1, "instructions: 306.08, over the maximum of 1"},
		{bench.Instructions, 74.3333, 74.33, "instructions: 74.3333, over the maximum of 74.33"},
		{bench.XlatedBytes, 4096, 1, "xlated-bytes: 4,096, over the maximum of 1"},
		{bench.MapMemory, 4096, 1, "map-memory: 4,096 bytes, over the maximum of 1 byte"},
		{bench.Latency, 1882.25, 1881, "latency: 1,882.25 ns, over the maximum of 1,881 ns"},
		{bench.Latency, 55.12, 1, "latency: 55.1 ns, over the maximum of 1 ns"},
	} {
		r := &bench.Result{Samples: []bench.Sample{{Measure: c.measure}}}
		if got := OverBudget(r, &bench.Alert{Measure: c.measure.Name, Value: c.value, Limit: c.most}); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
