package report

import (
	"math"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/thresholds"
)

func TestDeltas(t *testing.T) {
	exact := func(base, head float64) string {
		v := counted("a", bench.Instructions, thresholds.Pass, thresholds.Fail, base, head, "")
		return delta(&v)
	}
	for want, got := range map[string]string{
		"=": exact(3594, 3594), "+1 (+0.03%)": exact(3594, 3595), "-1,000 (-50.0%)": exact(2000, 1000), "+3": exact(0, 3), "+0.2 (+200%)": exact(0.1, 0.3),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for share, want := range map[float64]string{0: "0%", 0.0521: "+5.2%", -0.0012: "-0.12%", 0.000001: "0%", 3: "+300%", math.NaN(): "-"} {
		if got := percent(share); got != want {
			t.Errorf("percent(%v) = %q, want %q", share, got, want)
		}
	}
}
