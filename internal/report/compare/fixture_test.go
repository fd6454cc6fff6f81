package compare

import (
	"fmt"
	"math"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/report/reporttest"
	"github.com/org/ebpf-bench-action/internal/stat"
	"github.com/org/ebpf-bench-action/thresholds"
)

// side returns one side of a benchmark.
func side(name string, m bench.Measure, value float64) *bench.Result {
	return &bench.Result{Benchmark: name, Driver: "test_run", Samples: []bench.Sample{{Measure: m, Values: []float64{value}}}}
}

func pairOf(name string, m bench.Measure, base, head float64) bench.Pair {
	p := bench.Pair{Benchmark: name, Base: side(name, m, base), Head: side(name, m, head)}
	if !m.Exact {
		p.Again = side(name, m, base)
	}
	return p
}

// timed returns a verdict on a latency that changed by a share of the base, in
// an interval of ±0.4%.
func timed(name string, o thresholds.Outcome, base, share float64, why string) thresholds.Verdict {
	c := &stat.Change{
		Measure: bench.Latency, Base: base, Head: base * (1 + share), Delta: base * share, Ratio: 1 + share,
		Low: 1 + share - 0.004, High: 1 + share + 0.004, Confidence: 0.99, P: 1, Band: 0.002, Banded: true,
		Paired: true, Loads: 31, Rounds: 2000,
	}
	v := thresholds.Verdict{Benchmark: name, Measure: bench.Latency, Outcome: o, Severity: thresholds.Fail, Change: c, P: 1, Tests: 8, Detectable: 0.0132, Why: why}
	if math.Abs(share) > 0.004 {
		c.P, v.P = 0.00001, 0.00008
	}
	return v
}

func counted(name string, m bench.Measure, o thresholds.Outcome, s thresholds.Severity, base, head float64, why string) thresholds.Verdict {
	c, err := stat.CompareExact(side(name, m, base).Samples[0], side(name, m, head).Samples[0])
	if err != nil {
		panic(err)
	}
	return thresholds.Verdict{Benchmark: name, Measure: m, Outcome: o, Severity: s, Allowed: o == thresholds.Pass && head > base, Change: &c, Why: why}
}

// timedComparison has one of everything that a report of timed measures shows.
func timedComparison() Table {
	removed := pairOf("xdp/old", bench.Latency, 80, 0)
	removed.Head, removed.Again = nil, nil
	added := pairOf("xdp/new", bench.Latency, 0, 91.5)
	added.Base, added.Again = nil, nil
	refused := pairOf("xdp/refused", bench.Latency, 60, 0)
	refused.Head = &bench.Result{Benchmark: "xdp/refused", Driver: "test_run", Error: "the verifier refuses program x: invalid access"}
	veth := pairOf("xdp/veth", bench.Latency, 25.2, 25.3)
	veth.Head.Driver, veth.Head.Warnings = "veth", []string{"2 of 40005 packets are unaccounted for"}
	fast := pairOf("xdp/fast", bench.Latency, 210, 189)
	fast.Base.Type, fast.Base.Retvals = "xdp", map[uint32]uint64{2: 80}
	fast.Head.Type, fast.Head.Retvals, fast.Head.Fresh = "xdp", map[uint32]uint64{1: 80}, "the packet"
	loaded := pairOf("lsm/loaded", bench.VerifiedInsns, 30, 30)
	loaded.Head.Driver = "verify"
	tiny := timed("tiny", thresholds.Inconclusive, 3.1, 0.031, "+3.1% (+0.10 ns), 99% interval +0.9..+5.6%, noise ±2.2%, p 0.4 after Holm over 8, beyond the threshold of 2.0% but not significant")
	tiny.P = 0.4
	tiny.Change.Warnings = []string{"the base costs less than 1 ns: changes are given in ns, and the percentage of a threshold is applied to 1 ns"}
	accepted := timed("tc/accepted", thresholds.Accepted, 310, 0.061, "+6.1% (+18.9 ns), 99% interval +5.7..+6.5%, noise ±0.2%, p below 0.0001 after Holm over 8, confirmed by a second measurement, accepted up to +10% until 2027-01-31: the new header is worth it")
	return Table{
		Comparison: &bench.Comparison{
			Tool: "v1.2.3", Started: time.Unix(1_700_000_000, 0).UTC(), Elapsed: 12.34, Seed: 42,
			Testbed: bench.Testbed{Mode: bench.ModeHost, Kernel: "6.12.1", CPU: "AMD EPYC", Cores: 2, Virtual: "kvm", JIT: "on"},
			Base:    bench.Side{Name: "main", Commit: "1a2b3c4d5e6f", Branch: "main"}, Head: bench.Side{Name: "head.o"},
			Pairs: []bench.Pair{
				pairOf("xdp/basic", bench.Latency, 17.2, 17.2), pairOf("xdp/slow", bench.Latency, 1240, 1304),
				fast, veth, pairOf("tiny", bench.Latency, 3.1, 3.2), pairOf("tc/accepted", bench.Latency, 310, 329),
				refused, loaded, added, removed,
			},
		},
		Verdicts: &thresholds.Verdicts{All: []thresholds.Verdict{
			timed("xdp/basic", thresholds.Pass, 17.2, 0.0006, "+0.06% (+0.01 ns)"),
			counted("xdp/basic", bench.VerifiedInsns, thresholds.Pass, thresholds.Warn, 120, 120, "120 instructions on both sides"),
			counted("xdp/basic", bench.JitedBytes, thresholds.Pass, thresholds.Warn, 310, 312, "310 → 312 bytes (+2, +0.65%): grew within the allowance of 10%"),
			timed("xdp/slow", thresholds.Regression, 1240, 0.0521, "+5.2% (+64.6 ns), 99% interval +4.8..+5.6%, noise ±0.2%, p below 0.0001 after Holm over 8, confirmed by a second measurement"),
			counted("xdp/slow", bench.VerifiedInsns, thresholds.Regression, thresholds.Warn, 1200, 14000, "1200 → 14000 instructions (+12800, +1066.7%), up to 10% is allowed"),
			counted("xdp/slow", bench.XlatedBytes, thresholds.Regression, thresholds.Warn, 800, 1200, "800 → 1,200 bytes (+400, +50.0%), up to 10% is allowed"),
			counted("xdp/slow", bench.JitedBytes, thresholds.Regression, thresholds.Warn, 500, 700, "500 → 700 bytes (+200, +40.0%), up to 10% is allowed"),
			counted("xdp/slow", bench.StackBytes, thresholds.Regression, thresholds.Warn, 8, 16, "8 → 16 bytes (+8, +100.0%), up to 1% is allowed"),
			timed("xdp/fast", thresholds.Improvement, 210, -0.1, "-10.0% (-21.0 ns), 99% interval -10.4..-9.6%, noise ±0.2%, p below 0.0001 after Holm over 8, confirmed by a second measurement"),
			timed("xdp/veth", thresholds.Pass, 25.2, 0.002, "+0.20% (+0.05 ns)"),
			tiny, accepted,
			{Benchmark: "xdp/refused", Outcome: thresholds.Failed, Severity: thresholds.Fail, Why: "not measured: the verifier refuses program x: invalid access"},
			counted("lsm/loaded", bench.VerifiedInsns, thresholds.Pass, thresholds.Warn, 30, 30, "30 instructions on both sides"),
			{Benchmark: "xdp/new", Measure: bench.Latency, Outcome: thresholds.Added, Severity: thresholds.Fail, Why: "new: 91.5 ns"},
			{Benchmark: "xdp/new", Measure: bench.JitedBytes, Outcome: thresholds.Added, Severity: thresholds.Warn, Why: "new: 200 bytes"},
			{Benchmark: "xdp/old", Measure: bench.Latency, Outcome: thresholds.Removed, Severity: thresholds.Warn, Why: "the head does not have this benchmark"},
		}},
	}
}

// exactComparison is a comparison on a kernel in exact mode where slow executes
// more instructions.
func exactComparison(kernel string, more float64) Table {
	t := Table{
		Comparison: &bench.Comparison{
			Testbed: bench.Testbed{Mode: bench.ModeExact, Kernel: kernel, CPU: "QEMU TCG", Cores: 1, JIT: "on"},
			Base:    bench.Side{Name: "main", Commit: "1a2b3c4d5e6f"}, Head: bench.Side{Name: "build/"},
			Pairs: []bench.Pair{pairOf("xdp/basic", bench.Instructions, 21, 21), pairOf("xdp/slow", bench.Instructions, 3594, 3594+more)},
		},
		Verdicts: &thresholds.Verdicts{},
	}
	slow, why := thresholds.Pass, "3594 instructions on both sides"
	if more > 0 {
		slow, why = thresholds.Regression, fmt.Sprintf("3594 → %.0f instructions (+%.0f), no increase is allowed", 3594+more, more)
	}
	t.Verdicts.All = []thresholds.Verdict{
		counted("xdp/basic", bench.Instructions, thresholds.Pass, thresholds.Fail, 21, 21, "21 instructions on both sides"),
		counted("xdp/basic", bench.VerifiedInsns, thresholds.Pass, thresholds.Warn, 18, 18, "18 instructions on both sides"),
		counted("xdp/basic", bench.XlatedBytes, thresholds.Pass, thresholds.Warn, 144, 144, "144 bytes on both sides"),
		counted("xdp/slow", bench.Instructions, slow, thresholds.Fail, 3594, 3594+more, why),
	}
	return t
}

// storedComparison was not measured side by side, and partly on another
// machine.
func storedComparison() Table {
	t := timedComparison()
	base := t.Testbed
	base.CPU = "Intel Xeon"
	t.BaseTestbed = &base
	t.Pairs = t.Pairs[:3]
	t.Verdicts = &thresholds.Verdicts{Strict: true}
	for i := range t.Pairs {
		t.Pairs[i].Again = nil
		t.Verdicts.All = append(t.Verdicts.All, thresholds.Verdict{
			Benchmark: t.Pairs[i].Benchmark, Measure: bench.Latency, Outcome: thresholds.Inconclusive, Severity: thresholds.Fail,
			Why: "the base was measured on another testbed: CPU Intel Xeon, not AMD EPYC",
		})
	}
	return t
}

// manyComparison has n benchmarks; every hundredth is slower.
func manyComparison(n int) Table {
	t := timedComparison()
	t.Pairs, t.Verdicts = nil, &thresholds.Verdicts{}
	for i := range n {
		name := fmt.Sprintf("xdp/%04d", i)
		t.Pairs = append(t.Pairs, pairOf(name, bench.Latency, 100, 100))
		v := timed(name, thresholds.Pass, 100, 0, fmt.Sprintf("0%% in run %d", i))
		if i%100 == 0 {
			v = timed(name, thresholds.Regression, 100, 0.05, fmt.Sprintf("+5.0%% in run %d", i))
		}
		t.Verdicts.All = append(t.Verdicts.All, v)
	}
	return t
}

// overBudgetComparison has two unchanged values over their budgets, one of
// which is only a warning.
func overBudgetComparison() Table {
	t := exactComparison("6.12.8", 0)
	for i, s := range []thresholds.Severity{thresholds.Fail, thresholds.Warn} {
		v := &t.Verdicts.All[[]int{3, 0}[i]]
		v.Outcome, v.Severity, v.Why = thresholds.OverBudget, s, v.Why+", over the maximum of 1 instruction"
	}
	return t
}

// allowedComparison has changes for the worse within the allowance: counts that
// grew, and a time that did.
func allowedComparison() Table {
	t := exactComparison("6.12.8", 0)
	t.Testbed.Mode = bench.ModeHost
	t.Pairs = append(t.Pairs, pairOf("xdp/timed", bench.Latency, 100, 101.2))
	t.Verdicts.All[3] = counted("xdp/slow", bench.Instructions, thresholds.Pass, thresholds.Fail, 3594, 3596, "3,594 → 3,596 instructions (+2, +0.06%): grew within the allowance of 3 instructions")
	timed := timed("xdp/timed", thresholds.Pass, 100, 0.012, "+1.2% (+1.20 ns), 99% interval +0.8..+1.6%, noise ±0.2%, p below 0.0001: got worse within the threshold of 2.0%")
	timed.Allowed = true
	t.Verdicts.All = append(t.Verdicts.All, timed,
		counted("xdp/timed", bench.JitedBytes, thresholds.Pass, thresholds.Warn, 310, 312, "310 → 312 bytes (+2, +0.65%): grew within the allowance of 10%"))
	return t
}

// kernelsComparison has other measures that changed on all kernels, equally on
// all or differently on some.
func kernelsComparison() *Model {
	var tables []Table
	for i, kernel := range []string{"5.10.0-32-cloud-amd64", "6.1.0-50-cloud-amd64", "6.12.107+deb13-cloud-amd64"} {
		t := exactComparison(kernel, 3)
		t.Testbed.CPU = "QEMU Virtual CPU version 2.5+"
		t.Verdicts.All = append(t.Verdicts.All,
			counted("xdp/slow", bench.VerifiedInsns, thresholds.Regression, thresholds.Warn, 88, 1478, "88 → 1,478 instructions (+1,390), up to 10% is allowed"),
			counted("xdp/slow", bench.XlatedBytes, thresholds.Pass, thresholds.Warn, 520+float64(i/2*8), 528+float64(i/2*8), "within"),
			counted("xdp/slow", bench.StackBytes, thresholds.Pass, thresholds.Warn, 8, 8, "8 bytes on both sides"))
		tables = append(tables, t)
	}
	return New(tables...)
}

// nothingComparison has programs that cost next to nothing, or less than the
// noise.
func nothingComparison() Table {
	t := timedComparison()
	t.Pairs, t.Verdicts = nil, &thresholds.Verdicts{}
	for _, c := range []struct {
		name    string
		o       thresholds.Outcome
		base, p float64
		by      stat.Span
		catch   float64
		why     string
	}{
		{"tc/empty", thresholds.Pass, -0.06, 1, stat.Span{Low: -0.031, High: 0.002, Band: 0.02}, 0.53, "0.01 ns"},
		{"cgroup/tiny", thresholds.Inconclusive, 0.05, 1, stat.Span{Low: -1.1, High: 0.4, Band: 1.5}, 4.24, "-0.30 ns, 99% interval -1.10..+0.40 ns, noise ±1.50 ns, p 1 after Holm over 8, too coarse for the threshold of 0.50 ns: about 9 times the budget would decide (--budget 18s)"},
		{"sk_msg/slow", thresholds.Regression, 0.4, 0.0001, stat.Span{Low: 2.2, High: 3.4, Band: 0.5}, 3.12, "+2.80 ns, 99% interval +2.20..+3.40 ns, noise ±0.50 ns, p 0.0001 after Holm over 8, confirmed by a second measurement"},
	} {
		v := timed(c.name, c.o, c.base, 0, c.why)
		v.P, v.Detectable, v.DetectableBy, v.Change.By = c.p, 16000, c.catch, c.by
		v.Change.Delta = (c.by.Low + c.by.High) / 2
		v.Change.Head = c.base + v.Change.Delta
		t.Pairs = append(t.Pairs, pairOf(c.name, bench.Latency, c.base, v.Change.Head))
		t.Verdicts.All = append(t.Verdicts.All, v)
	}
	return t
}

func models() map[string]*Model {
	return map[string]*Model{
		"timed":   New(timedComparison()),
		"exact":   New(exactComparison("6.12.8", 1)),
		"matrix":  New(exactComparison("5.10.1", 0), exactComparison("6.1.99", 3), exactComparison("6.12.8", 3)),
		"kernels": kernelsComparison(),
		"budget":  New(overBudgetComparison()),
		"allowed": New(allowedComparison()),
		"pass":    New(exactComparison("6.12.8", 0)),
		"source":  New(sourceComparison()),
		"stored":  New(storedComparison()),
		"many":    New(manyComparison(300)),
		"empty":   New(),
		"user":    New(ingestedComparison(5)),
		"allow":   New(ingestedComparison(0.9)),
		"nothing": New(nothingComparison()),
		"hostile": New(hostileComparison()),
	}
}

const hostile = "a|b`c\x1b[31m<script>@org/team\n# x\\|![i](http://x.y) \u202e&amp;\xff"

// hostileComparison has a stranger's text wherever there is text.
func hostileComparison() Table {
	t := timedComparison()
	t.Pairs = t.Pairs[:2]
	t.Base = bench.Side{Name: hostile, Commit: hostile}
	t.Testbed.Kernel, t.Testbed.CPU, t.Testbed.JIT = hostile, hostile, hostile
	bad := bench.Measure{Name: hostile, Unit: hostile, Direction: bench.LowerIsBetter}
	for i := range t.Pairs {
		name := fmt.Sprintf("%s%d", hostile, i)
		t.Pairs[i].Benchmark = name
		t.Pairs[i].Head.Driver, t.Pairs[i].Head.Warnings = hostile, []string{hostile}
		v := timed(name, thresholds.Regression, 100, 0.05, hostile)
		other := v
		other.Measure = bad
		change := *v.Change
		change.Measure = bad
		other.Change = &change
		t.Verdicts.All = append(t.Verdicts.All[:2*i:2*i], v, other)
	}
	return t
}

// ingestedComparison is worse in all of its measures, several of one benchmark.
func ingestedComparison(more float64) Table {
	base, head := reporttest.IngestedRun(0), reporttest.IngestedRun(more)
	c := &bench.Comparison{Testbed: head.Testbed, BaseTestbed: &base.Testbed, Base: bench.Side{Name: "main.json"}, Head: bench.Side{Name: "user.json"}}
	for i := range base.Results {
		c.Pairs = append(c.Pairs, bench.Pair{Benchmark: base.Results[i].Benchmark, Base: &base.Results[i], Head: &head.Results[i]})
	}
	return Table{c, thresholds.Default().Compare(c, thresholds.Options{})}
}
