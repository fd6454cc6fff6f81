package thresholds

import (
	"strings"
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
)

func TestExact(t *testing.T) {
	for _, c := range []struct {
		rule       string
		base, head float64
		want       Outcome
		why        string
	}{
		{"percent: 0", 100, 100, Pass, "100 instructions on both sides"},
		{"percent: 0", 100, 101, Regression, "100 → 101 instructions (+1, +1.0%), no increase is allowed"},
		{"percent: 0", 100, 99, Improvement, "100 → 99 instructions (-1, -1.0%)"},
		{"percent: 10", 100, 110, Pass, "100 → 110 instructions (+10, +10.0%): grew within the allowance of 10%"},
		{"percent: 10", 100, 111, Regression, "100 → 111 instructions (+11, +11.0%), up to 10% is allowed"},
		{"percent: 58", 100, 158, Pass, "100 → 158 instructions (+58, +58.0%): grew within the allowance of 58%"},
		// The larger of the two is allowed.
		{"percent: 1, absolute: 5", 100, 105, Pass, "100 → 105 instructions (+5, +5.0%): grew within the allowance of 1% or 5 instructions"},
		{"percent: 1, absolute: 5", 1000, 1010, Pass, ""},
		{"percent: 1, absolute: 5", 1000, 1011, Regression, ""},
		{"absolute: 5", 0, 5, Pass, "0 → 5 instructions (+5): grew within the allowance of 5 instructions"},
		{"percent: 0", 1233567, 1234568.5, Regression, "1,233,567 → 1,234,568.5 instructions (+1,001.5, +0.08%), no increase is allowed"},
		{"percent: 0", 0, 1, Regression, "0 → 1 instruction (+1), no increase is allowed"},
		{"absolute: 1", 1, 2, Pass, "1 → 2 instructions (+1, +100%): grew within the allowance of 1 instruction"},
		{"absolute: 5", 0, 6, Regression, ""},
		{"percent: 50", 0, 1, Regression, ""},
		{"percent: 5, direction: both", 100, 94, Regression, ""},
		{"percent: 5, direction: both", 100, 96, Pass, "100 → 96 instructions (-4, -4.0%), up to 5% is allowed"},
		{"percent: 0, absolute: 0", 109.25, 109.5, Regression, "109.25 → 109.5 instructions (+0.25, +0.23%), no increase is allowed"},
	} {
		p := policy(t, "thresholds: [{measure: instructions, "+c.rule+"}]\n")
		v := only(t, p.Compare(comparison(exactPair("a", c.base, c.head)), Options{}))
		if v.Outcome != c.want || c.why != "" && v.Why != c.why {
			t.Errorf("%s from %v to %v: %s, %s; want %s, %s", c.rule, c.base, c.head, v.Outcome, v.Why, c.want, c.why)
		}
		// A growth that passes is reported.
		if v.Allowed != (v.Outcome == Pass && c.head > c.base) {
			t.Errorf("%s from %v to %v: allowed %v", c.rule, c.base, c.head, v.Allowed)
		}
	}
}

// The memory that an operation allocates is a mean. It is a count if it was the same each
// time, and then does not add to the number of tests.
func TestHeapBytesAreCounts(t *testing.T) {
	p := policy(t, "thresholds: [{measure: heap-bytes, percent: 10}]\n")
	for _, c := range []struct {
		name       string
		base, head []float64
		want       Outcome
		why        string
		tests      int
	}{
		{"the same", []float64{96, 96}, []float64{96, 96}, Pass, "96 bytes on both sides", 0},
		{"more", []float64{96, 96}, []float64{144, 144}, Regression, "96 → 144 bytes (+48, +50.0%), up to 10% is allowed", 0},
		{"nothing", []float64{0, 0}, []float64{16, 16}, Regression, "0 → 16 bytes (+16), up to 10% is allowed", 0},
		{"a mean", []float64{96, 97, 96, 97, 96, 97, 96, 97}, []float64{144, 145, 144, 145, 144, 145, 144, 145}, Regression, "interval", 1},
		{"one value", []float64{96}, []float64{97}, Inconclusive, "too few measurements", 1},
	} {
		side := func(values []float64) *bench.Result {
			return &bench.Result{Benchmark: "a", Driver: bench.DriverGo, Samples: []bench.Sample{{Measure: bench.HeapBytes, Values: values}}}
		}
		in := comparison(bench.Pair{Benchmark: "a", Base: side(c.base), Head: side(c.head)})
		in.BaseTestbed = &in.Testbed
		v := only(t, p.Compare(in, Options{}))
		if v.Outcome != c.want || !strings.Contains(v.Why, c.why) || v.Tests != c.tests {
			t.Errorf("%s: %s, %s, %d tests; want %s, %s", c.name, v.Outcome, v.Why, v.Tests, c.want, c.why)
		}
	}
}

func TestACountByChance(t *testing.T) {
	eight := func(first, last float64) []float64 {
		return []float64{first, last, first, last, first, last, first, last}
	}
	for _, c := range []struct {
		name       string
		base, head []float64
		rule       string
		want       Outcome
		why        string
	}{
		{"never varied", []float64{100}, []float64{101}, "percent: 0", Regression, "no increase is allowed"},
		{"all above", eight(100, 103), eight(104, 109), "percent: 0", Regression, "101.5 → 106.5 instructions (+5, +4.9%), no increase is allowed"},
		{"all below", eight(104, 109), eight(100, 103), "percent: 0", Improvement, ""},
		{"all above, and allowed", eight(100, 103), eight(104, 109), "percent: 5", Pass, "grew within the allowance"},
		{"too few", []float64{100, 103}, []float64{104, 109}, "percent: 0", Inconclusive, "which may be chance: the base alone counted 100 to 103 instructions, the head 104 to 109 instructions"},
		{"overlap", []float64{1000, 1003}, []float64{1001, 1004}, "percent: 0", Pass, "may be chance"},
		{"overlap and may hide too much", []float64{100, 103}, []float64{102, 104}, "percent: 0", Inconclusive, "may be chance"},
		{"overlap and may hide what is forbidden", []float64{100, 104}, []float64{103, 106}, "percent: 2", Inconclusive, "may be chance"},
		{"overlap within the threshold", []float64{100, 104}, []float64{103, 106}, "percent: 6", Pass, "may be chance"},
		{"overlap, small", []float64{3, 4}, []float64{3.5, 4}, "percent: 0", Pass, "may be chance"},
		{"one side varies", []float64{100}, []float64{100, 101, 102}, "percent: 0", Inconclusive, "may be chance"},
		{"from one count", []float64{90, 100, 130}, []float64{95, 120, 140}, "percent: 0", Inconclusive, "may be chance"},
		{"lower may be worse", []float64{120, 131}, []float64{100, 120}, "percent: 0, direction: both", Inconclusive, "may be chance"},
		{"lower is better", []float64{120, 131}, []float64{100, 120}, "percent: 0", Pass, "may be chance"},
	} {
		p := exactPair("a", 0, 0)
		p.Base.Sample(bench.Instructions.Name).Values = c.base
		p.Head.Sample(bench.Instructions.Name).Values = c.head
		v := only(t, policy(t, "thresholds: [{measure: instructions, "+c.rule+"}]\n").Compare(comparison(p), Options{}))
		if v.Outcome != c.want || !strings.Contains(v.Why, c.why) {
			t.Errorf("%s: %s, %s; want %s, %s", c.name, v.Outcome, v.Why, c.want, c.why)
		}
	}
}

func TestExactOfAnotherTestbed(t *testing.T) {
	c := comparison(exactPair("a", 100, 200))
	base := c.Testbed
	c.BaseTestbed = &base
	if v := only(t, Default().Compare(c, Options{})); v.Outcome != Regression {
		t.Errorf("%+v: a stored number of the same testbed is compared", v)
	}
	for want, change := range map[string]func(*bench.Testbed){
		// The JIT emits code for the CPU, and each emulator counts in its own way.
		"QEMU 9.0, not":             func(b *bench.Testbed) { b.QEMU = "9.0" },
		"CPU max, not":              func(b *bench.Testbed) { b.CPU = "max" },
		"number of cores 64, not":   func(b *bench.Testbed) { b.Cores = 64 },
		"mode exact, not host":      func(b *bench.Testbed) { b.Mode = bench.ModeExact },
		"kernel 5.10, not 6.12.8":   func(b *bench.Testbed) { b.Kernel = "5.10" },
		"kernel build #2, not ":     func(b *bench.Testbed) { b.KernelBuild = "#2" },
		"JIT hardening true, not":   func(b *bench.Testbed) { b.JITHarden = true },
		"other CPU vulnerabilities": func(b *bench.Testbed) { b.Mitigations = map[string]string{"x": "y"} },
	} {
		other := c.Testbed
		change(&other)
		c.BaseTestbed = &other
		v := only(t, Default().Compare(c, Options{}))
		if v.Outcome != Inconclusive || !strings.HasPrefix(v.Why, "the base was measured on another testbed: "+want) {
			t.Errorf("%s: %s, %s", want, v.Outcome, v.Why)
		}
	}
}

func TestAccept(t *testing.T) {
	day := func(s string) time.Time {
		d, err := time.Parse(time.DateTime, s)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for _, c := range []struct {
		name, upTo, now string
		head            float64
		want            Outcome
		why             string
	}{
		{"within", "10%", "2027-01-01 00:00:00", 110, Accepted, ", accepted up to +10% until 2027-01-31: slower hash"},
		{"on its last day", "10%", "2027-01-31 23:59:59", 110, Accepted, ""},
		{"expired", "10%", "2027-02-01 00:00:00", 110, Regression, ", accepted up to +10% only until 2027-01-31"},
		{"more", "10%", "2027-01-01 00:00:00", 111, Regression, ", more than the accepted +10%"},
		{"absolute", "12", "2027-01-01 00:00:00", 112, Accepted, ", accepted up to +12 instructions until 2027-01-31: slower hash"},
		{"more than absolute", "12", "2027-01-01 00:00:00", 113, Regression, ", more than the accepted +12 instructions"},
		{"not needed", "10%", "2027-02-01 00:00:00", 100, Pass, "on both sides"},
	} {
		p := policy(t, "accept: [{benchmark: a*, measure: instructions, up_to: "+c.upTo+", until: 2027-01-31, reason: slower hash}]\n")
		v := only(t, p.Compare(comparison(exactPair("ab", 100, c.head)), Options{Now: day(c.now)}))
		if v.Outcome != c.want || !strings.HasSuffix(v.Why, c.why) {
			t.Errorf("%s: %s, %s", c.name, v.Outcome, v.Why)
		}
		v = only(t, p.Compare(comparison(exactPair("b", 100, 101)), Options{Now: day(c.now)}))
		if v.Outcome != Regression {
			t.Errorf("%s: another benchmark is %s, %s", c.name, v.Outcome, v.Why)
		}
	}
}
