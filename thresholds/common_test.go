package thresholds

import (
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// oneSided returns a benchmark that only the base has, and one that only the head has.
func oneSided() (removed, added bench.Pair) {
	removed, added = exactPair("xdp/parse", 5, 0), exactPair("xdp/parser", 0, 5)
	removed.Head, added.Base = nil, nil
	return removed, added
}

// A gate that compared nothing has not been passed.
func TestNothingInCommon(t *testing.T) {
	removed, added := oneSided()
	for _, strict := range []bool{false, true} {
		if v := Default().Compare(comparison(removed, added), Options{Strict: strict}); !v.Disjoint || v.Overall() != Failed {
			t.Errorf("strict %v: %+v", strict, v)
		}
		if v := Default().Compare(comparison(removed), Options{Strict: strict}); !v.Disjoint || v.Overall() != Failed {
			t.Errorf("a head without benchmarks, strict %v: %+v", strict, v)
		}
		// A rename beside others passes, and the verdict mentions it.
		v := Default().Compare(comparison(removed, added, exactPair("b", 1, 1)), Options{Strict: strict})
		if v.Overall() != Pass || v.All[0].Outcome != Removed || !strings.HasSuffix(v.All[0].Why, `; was it renamed to "xdp/parser"?`) || v.All[1].Outcome != Added {
			t.Errorf("strict %v: %+v", strict, v)
		}
	}
}

// A benchmark without a threshold is also reported as removed.
func TestRemovedWithoutAThreshold(t *testing.T) {
	removed := measured(bench.Throughput, "old", 5, 5)
	removed.Head = nil
	v := Default().Compare(comparison(removed, exactPair("b", 1, 1)), Options{})
	if len(v.All) != 2 || v.All[0].Outcome != Removed || v.All[0].Severity != Warn || v.All[0].Measure.Name != "" {
		t.Errorf("%+v", v.All)
	}
}

// What follows from a removed benchmark is up to the policy, for each of its measures.
func TestRemovedPolicy(t *testing.T) {
	removed, _ := oneSided()
	for text, want := range map[string]struct {
		severity Severity
		overall  Outcome
	}{"": {Warn, Pass}, "removed: warn\n": {Warn, Pass}, "removed: fail\n": {Fail, Removed}, "removed: allow\n": {Ignore, Pass}} {
		p := policy(t, text+"thresholds: [{measure: instructions, percent: 0, severity: warn}]\n")
		v := p.Compare(comparison(removed, exactPair("b", 1, 1)), Options{Strict: true})
		if v.All[0].Outcome != Removed || v.All[0].Severity != want.severity || v.Overall() != want.overall {
			t.Errorf("%q: %+v, overall %s", text, v.All[0], v.Overall())
		}
		// What got worse, too, is worse.
		if v := p.Compare(comparison(removed, measured(bench.BPFInsns, "b", 1, 2)), Options{}); v.Overall() != Regression {
			t.Errorf("%q: overall %s beside a regression", text, v.Overall())
		}
	}
}

// That a benchmark was renamed is a guess. It fails only where one that is gone would; a
// budget is no guess.
func TestLooksLike(t *testing.T) {
	pair := exactPair("ingress", 100, 300)
	pair.LooksLike = "filter"
	for text, want := range map[string]Severity{"": Warn, "removed: allow\n": Warn, "removed: fail\n": Fail} {
		got := only(t, policy(t, text).Compare(comparison(pair), Options{}))
		if got.Outcome != Regression || got.Severity != want || !strings.HasPrefix(got.Why, "looks like filter: 100 → 300 instructions (+200") {
			t.Errorf("%q: %+v", text, got)
		}
	}
	got := only(t, policy(t, "thresholds: [{measure: instructions, max: 200}]\n").Compare(comparison(pair), Options{}))
	if got.Outcome != OverBudget || got.Severity != Fail {
		t.Errorf("over its budget: %+v", got)
	}
}

// A kernel that only the base was measured on is a gap in the head's run.
func TestKernelThatTheHeadLacks(t *testing.T) {
	removed, _ := oneSided()
	c := comparison(removed)
	c.BaseTestbed = &c.Testbed
	v := Default().Compare(c, Options{Strict: true})
	if got := only(t, v); got.Outcome != Inconclusive || got.Why != "the head was not measured in host mode on Linux 6.12.8" || v.Overall() != Inconclusive {
		t.Errorf("%+v %s", got, v.Overall())
	}
}

// A comparison runs only what both sides have. So the budget of a new benchmark is not a
// reason to fail, but does not pass in strict mode. A stored run was measured as a whole.
func TestBudgetOfAnAddedBenchmark(t *testing.T) {
	p := policy(t, "thresholds: [{measure: latency, max: 1000000}]\n")
	added := bench.Pair{Benchmark: "new", Head: &bench.Result{Benchmark: "new", Driver: "test_run"}}
	c := comparison(added, measured(bench.Latency, "b", 1, 1))
	v := p.Compare(c, Options{})
	if got := v.All[0]; got.Outcome != Inconclusive || !strings.HasPrefix(got.Why, "added, and not run") || v.Overall() != Pass {
		t.Errorf("%+v, overall %s", got, v.Overall())
	}
	if v := p.Compare(c, Options{Strict: true}); v.Overall() != Inconclusive {
		t.Errorf("strict: %s", v.Overall())
	}
	c.BaseTestbed = &c.Testbed
	if v := p.Compare(c, Options{}); v.All[0].Outcome != Failed || v.Overall() != Failed {
		t.Errorf("stored: %+v", v.All[0])
	}
}

// A budget that only warns does not hide that the growth is in doubt.
func TestWarningHidesNoDoubt(t *testing.T) {
	p := policy(t, "thresholds: [{measure: latency, percent: 2}, {measure: latency, max: 1, severity: warn}]\n")
	v := p.Compare(comparison(timedPair("slow", 0.05)), Options{Strict: true})
	got := only(t, v)
	if got.Outcome != Inconclusive || got.Severity != Fail || v.Overall() != Inconclusive || !strings.Contains(got.Why, ", over the maximum of 1.00 ns") {
		t.Errorf("%s %s: %s; overall %s", got.Severity, got.Outcome, got.Why, v.Overall())
	}
}

func TestMinimum(t *testing.T) {
	p := policy(t, "thresholds: [{measure: throughput, min: 1000}]\n")
	for value, want := range map[float64]Outcome{1000: Pass, 5000: Pass, 999: OverBudget} {
		pair := measured(bench.Throughput, "a", 1000, value)
		v := only(t, p.Compare(comparison(pair), Options{}))
		if v.Outcome != want || want == OverBudget && !strings.HasSuffix(v.Why, ", under the minimum of 1000 ops/s") {
			t.Errorf("%v: %s, %s", value, v.Outcome, v.Why)
		}
		alerts := marked(p, &bench.Run{Results: []bench.Result{*pair.Head}})
		if (len(alerts) == 1) != (want == OverBudget) || len(alerts) == 1 && (!alerts[0].Under || alerts[0].Limit != 1000) {
			t.Errorf("%v: %+v", value, alerts)
		}
	}
}

// No program costs less than an empty one, so an apparent one is not an improvement.
func TestBelowTheFloor(t *testing.T) {
	below := timedPair("below", 0)
	for i := range below.Head.Rounds.RunTimeNS {
		below.Head.Rounds.RunTimeNS[i] /= 100
	}
	c := comparison(below)
	c.Confirmed = c.Pairs
	v := only(t, Default().Compare(c, Options{}))
	if v.Outcome != Inconclusive || !strings.HasPrefix(v.Why, "below the floor: the head costs 4") {
		t.Errorf("%s: %s", v.Outcome, v.Why)
	}
	v = only(t, Default().Compare(comparison(exactPair("a", 5, -1000)), Options{}))
	if v.Outcome != Inconclusive || !strings.HasSuffix(v.Why, "below the floor: no program costs less than an empty one") {
		t.Errorf("counted: %s: %s", v.Outcome, v.Why)
	}
	v = only(t, policy(t, "thresholds: [{measure: instructions-path, percent: 0}]\n").Compare(comparison(measured(bench.InstructionsPath, "a", 5, -1000)), Options{}))
	if v.Outcome != Improvement {
		t.Errorf("a path: %s: %s", v.Outcome, v.Why)
	}
}

func TestJudgingEnds(t *testing.T) {
	asked := 0
	v := Default().Compare(comparison(timedPair("a", 0), timedPair("b", 0), timedPair("c", 0)), Options{Ended: func() bool { asked++; return asked > 2 }})
	if len(v.All) != 0 || !v.Partial || v.Overall() != Failed || asked > 5 {
		t.Errorf("%+v after %d", v, asked)
	}
}

// What was not measured on every kernel does not pass.
func TestAKernelIsMissing(t *testing.T) {
	c := comparison(timedPair("a", 0))
	c.MissingKernels = []string{"6.1"}
	if v := Default().Compare(c, Options{}); v.Overall() != Failed {
		t.Errorf("%+v: %s", v, v.Overall())
	}
}

func TestAbsurdNumbersAreShort(t *testing.T) {
	for _, c := range []struct{ base, head float64 }{{5, 1e308}, {-1e308, 1e308}, {1e300, 2e300}} {
		v := only(t, Default().Compare(comparison(exactPair("a", c.base, c.head)), Options{}))
		if len(v.Why) > 120 || strings.Contains(v.Why, "Inf") || strings.Contains(v.Why, "NaN") {
			t.Errorf("%s", v.Why)
		}
	}
}
