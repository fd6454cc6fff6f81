package thresholds

import (
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
)

func TestModeOfAThreshold(t *testing.T) {
	p := policy(t, `thresholds:
  - {measure: bpf-insns, percent: 10}
  - {measure: bpf-insns, mode: kvm, percent: 50}
`)
	for mode, want := range map[bench.Mode]Outcome{bench.ModeHost: Regression, bench.ModeExact: Regression, bench.ModeKVM: Pass} {
		c := comparison(measured(bench.BPFInsns, "a", 100, 120))
		c.Testbed.Mode = mode
		if v := only(t, p.Compare(c, Options{})); v.Outcome != want {
			t.Errorf("%s mode: %s, %s; want %s", mode, v.Outcome, v.Why, want)
		}
	}
}

// If machine instructions are counted, they show all that BPF instructions do.
func TestBPFInsnsGateWhereNothingElseIsExact(t *testing.T) {
	for mode, want := range map[bench.Mode]Severity{bench.ModeHost: Fail, bench.ModeKVM: Fail, bench.ModeExact: Ignore} {
		c := comparison(measured(bench.BPFInsns, "a", 100, 101))
		c.Testbed.Mode = mode
		if v := only(t, Default().Compare(c, Options{})); v.Outcome != Regression || v.Severity != want {
			t.Errorf("%s mode: %s, %s; want severity %s", mode, v.Outcome, v.Severity, want)
		}
	}
}

func TestModeThatCannotBe(t *testing.T) {
	for rule, want := range map[string]string{
		"{measure: latency, mode: exact, percent: 1}":     "t.yml:2: exact mode does not measure latency",
		"{measure: instructions, mode: host, percent: 1}": "t.yml:2: host mode does not measure instructions",
		"{measure: bpf-insns, mode: fast, percent: 1}":    `t.yml:2: unknown mode "fast": it is host, exact or kvm`,
	} {
		if _, err := load("version: 1\nthresholds: [" + strings.TrimSpace(rule) + "]\n"); err == nil || !strings.Contains(err.Error(), strings.TrimPrefix(want, "t.yml:2: ")) {
			t.Errorf("%s: %v, want %s", rule, err, want)
		}
	}
}

// A count that varies cannot be judged as exact.
func TestBPFInsnsByChance(t *testing.T) {
	for _, c := range []struct {
		base, head []float64
		want       Outcome
	}{
		{[]float64{100}, []float64{101, 102, 100}, Inconclusive},
		{[]float64{100, 99, 101}, []float64{120}, Inconclusive},
		{[]float64{100}, []float64{101}, Regression},
		{[]float64{100, 99, 101}, []float64{100}, Pass},
	} {
		p := measured(bench.BPFInsns, "a", 0, 0)
		p.Base.Samples[0].Values, p.Head.Samples[0].Values = c.base, c.head
		if v := only(t, Default().Compare(comparison(p), Options{})); v.Outcome != c.want {
			t.Errorf("from %v to %v: %s, %s; want %s", c.base, c.head, v.Outcome, v.Why, c.want)
		}
	}
}
