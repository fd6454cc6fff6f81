package thresholds

import (
	"math"
	"testing"
)

func TestTarget(t *testing.T) {
	p := policy(t, `
thresholds:
  - {benchmark: fine, measure: latency, percent: 0.5, confidence: 0.9}
  - {benchmark: zero, measure: latency, absolute: 1}
  - {measure: latency, kernel: "6.*", percent: 50}
`)
	for name, want := range map[string]struct{ effect, confidence, alpha float64 }{
		"fine": {0.0025, 0.9, 0.002}, "zero": {0.005, 0.99, 0.0002}, "any": {0.01, 0.99, 0.0002},
	} {
		got := p.Target(name, 8)
		if math.Abs(got.Effect-want.effect) > 1e-12 || math.Abs(got.Alpha-want.alpha) > 1e-12 || got.Confidence != want.confidence || got.Tests != 8 || got.Power != 0.95 {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}
