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

// Where machine instructions are counted, BPF instructions are judged only as far as they
// say more.
func TestBPFInsnsBesideInstructions(t *testing.T) {
	kinds := []bench.Kind{{Retval: 1, BPFInsns: 10, Runs: 500}, {Retval: 2, BPFInsns: 90, Runs: 500}}
	dearer := []bench.Kind{kinds[0], {Retval: 2, BPFInsns: 91, Runs: 500}}
	one := func(n float64) []float64 { return []float64{n} }
	varied := []float64{200, 210, 220}
	for name, c := range map[string]struct {
		instructions [2][]float64
		bpfInsns     [2][]float64
		kinds        [2][]bench.Kind
		policy       *Policy
		want         Severity
	}{
		"counted":                         {[2][]float64{one(200), one(204)}, [2][]float64{one(100), one(101)}, [2][]bench.Kind{}, Default(), Ignore},
		"the JIT makes up for it":         {[2][]float64{one(200), one(190)}, [2][]float64{one(100), one(101)}, [2][]bench.Kind{}, Default(), Ignore},
		"asked for":                       {[2][]float64{one(200), one(204)}, [2][]float64{one(100), one(101)}, [2][]bench.Kind{}, policy(t, "thresholds: [{measure: bpf-insns, percent: 0}]"), Fail},
		"not counted":                     {[2][]float64{}, [2][]float64{one(100), one(101)}, [2][]bench.Kind{}, Default(), Fail},
		"left to chance":                  {[2][]float64{varied, varied}, [2][]float64{one(100), one(101)}, [2][]bench.Kind{}, Default(), Fail},
		"left to chance, and nothing":     {[2][]float64{varied, varied}, [2][]float64{one(100), one(100)}, [2][]bench.Kind{}, Default(), Ignore},
		"runs of a kind that had no part": {[2][]float64{one(200), one(200)}, [2][]float64{varied, varied}, [2][]bench.Kind{kinds, dearer}, Default(), Fail},
		"runs of the same kinds":          {[2][]float64{one(200), one(200)}, [2][]float64{varied, varied}, [2][]bench.Kind{kinds, kinds}, Default(), Ignore},
	} {
		p := measured(bench.BPFInsns, "a", 0, 0)
		for i, r := range []*bench.Result{p.Base, p.Head} {
			r.Type, r.Kinds = "xdp", c.kinds[i]
			r.Samples[0].Values = c.bpfInsns[i]
			r.Samples = append([]bench.Sample{{Measure: bench.Instructions, Values: c.instructions[i]}}, r.Samples...)
		}
		compared := comparison(p)
		compared.Testbed.Mode = bench.ModeExact
		all := c.policy.Compare(compared, Options{}).All
		if v := all[len(all)-1]; v.Measure.Name != bench.BPFInsns.Name || v.Severity != c.want {
			t.Errorf("%s: %s is %s, %s; want severity %s", name, v.Measure.Name, v.Outcome, v.Severity, c.want)
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
