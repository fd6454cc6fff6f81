package thresholds

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/stat/stattest"
)

func TestTimed(t *testing.T) {
	slow, fast, same := timedPair("slow", 0.05), timedPair("fast", -0.05), timedPair("same", 0)
	c := comparison(slow, fast, same)
	p := Default()
	if got := strings.Join(p.Flagged(c), " "); got != "slow fast" {
		t.Fatalf("flagged %q", got)
	}
	v := p.Compare(c, Options{Strict: true})
	if v.All[0].Outcome != Inconclusive || v.All[1].Outcome != Pass || v.All[2].Outcome != Pass || v.Overall() != Inconclusive {
		t.Errorf("before a second measurement: %+v", v.All)
	}
	if !strings.HasSuffix(v.All[0].Why, ", not confirmed: it was not measured a second time") {
		t.Errorf("%s", v.All[0].Why)
	}
	c.Confirmed = []bench.Pair{renamed(timedPair("slow again", 0.05), "slow"), renamed(timedPair("fast again", -0.05), "fast")}
	v = p.Compare(c, Options{})
	if v.All[0].Outcome != Regression || v.All[1].Outcome != Improvement || v.All[2].Outcome != Pass || v.Overall() != Regression {
		t.Errorf("%+v", v.All)
	}
	want := regexp.MustCompile(`^\+[45]\.\d% \(\+1\d\.\d ns\), 99% interval \+\d\.\d\.\.\+\d\.\d%, noise ±0\.\d+%, p below 0\.0001 after Holm over 3, confirmed by a second measurement$`)
	if !want.MatchString(v.All[0].Why) {
		t.Errorf("%s", v.All[0].Why)
	}
	for _, v := range v.All {
		t.Logf("%s: %s: %s; detectable %.2f%%", v.Benchmark, v.Outcome, v.Why, v.Detectable*100)
		if v.Detectable < 0.02 || v.Detectable > 0.04 || v.Tests != 3 || v.Change == nil {
			t.Errorf("%+v", v)
		}
	}
}

func renamed(p bench.Pair, name string) bench.Pair {
	p.Benchmark = name
	return p
}

func TestNotConfirmed(t *testing.T) {
	c := comparison(timedPair("slow", 0.05))
	c.Confirmed = []bench.Pair{renamed(timedPair("no", 0), "slow")}
	v := only(t, Default().Compare(c, Options{}))
	if v.Outcome != Inconclusive || !strings.Contains(v.Why, ", not confirmed: one measurement found +5.0%") || v.Second == nil || v.Change.Loads != 64 {
		t.Errorf("%s: %s", v.Outcome, v.Why)
	}
	c.Confirmed = []bench.Pair{renamed(timedPair("faster", -0.05), "slow")}
	if v := only(t, Default().Compare(c, Options{})); v.Outcome != Inconclusive || !strings.Contains(v.Why, ", contradictory: one measurement found +") {
		t.Errorf("slower, then faster: %s: %s", v.Outcome, v.Why)
	}
	broken := renamed(timedPair("broken", 0.05), "slow")
	broken.Again.Rounds.Load = nil
	c.Confirmed = []bench.Pair{broken}
	if v := only(t, Default().Compare(c, Options{})); v.Outcome != Inconclusive || !strings.Contains(v.Why, "different lengths") {
		t.Errorf("%s: %s", v.Outcome, v.Why)
	}
}

// Each condition of a regression, missing on its own.
func TestTimedRegressionNeedsAll(t *testing.T) {
	noisy := stattest.Usual(32)
	noisy.Bias = 0.05
	few, single := stattest.Usual(6), stattest.Usual(9)
	tiny, cheap, coarse := stattest.Usual(32), stattest.Usual(32), stattest.Usual(32)
	tiny.Net = 8
	cheap.Net, cheap.Noise = 3, 0.02
	coarse.Bias = 0.2
	for _, c := range []struct {
		name, rule string
		pair       bench.Pair
		want       Outcome
		why        string
	}{
		{"percent", "percent: 6", timedPair("a", 0.05), Pass, "p below 0.0001: got worse within the threshold of 6.0%"},
		{"absolute", "percent: 2, absolute: 20", timedPair("a", 0.05), Pass, "p below 0.0001"},
		{"half a nanosecond of 8", "percent: 2, absolute: 0.5", machinePair(tiny, "a", 0.04), Pass, ""},
		{"both", "percent: 4, absolute: 5", timedPair("a", 0.06), Regression, "confirmed"},
		{"significance", "percent: 2", machinePair(noisy, "a", 0.035), Inconclusive, "beyond the threshold of 2.0% but not significant"},
		{"resolution", "percent: 1", machinePair(noisy, "noise", 0), Inconclusive, "too coarse for the threshold of 1.0%"},
		{"an interval", "percent: 2", machinePair(few, "a", 0.05), Inconclusive, "12 loads are too few: at least 14 are needed"},
		{"enough loads", "percent: 2", machinePair(single, "a", 0.05), Regression, "confirmed"},
		{"any threshold", "percent: 0", timedPair("a", 0), Pass, ""},
		{"a few nanoseconds", "percent: 0", machinePair(cheap, "a", 0), Pass, ""},
		{"sight", "percent: 0", machinePair(coarse, "a", 0), Inconclusive, "too coarse to call it no slower: about "},
		{"direction", "percent: 2, direction: both", timedPair("a", -0.05), Regression, "confirmed"},
	} {
		p := policy(t, "thresholds: [{measure: latency, "+c.rule+"}]\n")
		in := comparison(c.pair)
		in.Confirmed = []bench.Pair{c.pair}
		v := only(t, p.Compare(in, Options{}))
		if v.Outcome != c.want || !strings.Contains(v.Why, c.why) {
			t.Errorf("%s: %s: %s; want %s, %s", c.name, v.Outcome, v.Why, c.want, c.why)
		}
	}
}

// A growth that passes because it is allowed says so; an unchanged value does not.
func TestAllowedGrowth(t *testing.T) {
	p := policy(t, "thresholds: [{measure: latency, percent: 6}]\n")
	for growth, want := range map[float64]bool{0.05: true, 0: false, -0.02: false} {
		v := only(t, p.Compare(comparison(timedPair("a", growth)), Options{}))
		if v.Allowed != want || strings.Contains(v.Why, "within") != want {
			t.Errorf("%v: allowed %v: %s, %s", growth, v.Allowed, v.Outcome, v.Why)
		}
	}
	throughput := timedPair("a", 0.05)
	for _, r := range []*bench.Result{throughput.Base, throughput.Head, throughput.Again} {
		r.Samples = []bench.Sample{{Measure: bench.Throughput, Values: []float64{1}}}
	}
	if v := only(t, policy(t, "thresholds: [{measure: throughput, percent: 6}]\n").Compare(comparison(throughput), Options{})); !v.Allowed {
		t.Errorf("less throughput is worse: %s", v.Why)
	}
}

// A measurement that could not have detected a growth of the threshold does not prove that
// there is none, wherever its interval happens to lie. One that passes would have caught a
// slowdown of not many times the threshold.
func TestWhatPassesCouldHaveFailed(t *testing.T) {
	p := policy(t, "thresholds: [{measure: latency, percent: 2}]\n")
	doubts := map[string]bool{}
	for i := range 401 {
		m := stattest.Usual(11)
		m.Bias = 0.002 + 0.0001*float64(i)
		pair := machinePair(m, fmt.Sprint(i), -0.01)
		if i == 400 {
			// The base differs from itself.
			pair = timedPair("itself", 0)
			pair.Again = timedPair("itself", 0.03).Head
		}
		v := only(t, p.Compare(comparison(pair), Options{}))
		faster := v.Change.High < 1
		if v.Outcome == Pass && (v.Change.High-v.Change.Low > 0.02 && !faster || v.Change.Band > 0.02 || v.Detectable > 0.1) {
			t.Errorf("it passes, and would have caught %.1f%%: %s", v.Detectable*100, v.Why)
		}
		if v.Outcome == Inconclusive && v.Change.High < 1.02 {
			doubt, times, _ := strings.Cut(v.Why[strings.LastIndex(v.Why, ", ")+2:], ": ")
			doubts[doubt] = true
			if !regexp.MustCompile(`^about [1-9]\d* times the budget would decide \(--budget (\d+m)?\d+s\)$`).MatchString(times) {
				t.Errorf("it does not say what would be enough: %s", v.Why)
			}
		}
	}
	for _, want := range []string{"too coarse for the threshold of 2.0%", "noisier than the threshold of 2.0%"} {
		if !doubts[want] {
			t.Errorf("none is %s: %v", want, doubts)
		}
	}
}

// A suite of many benchmarks needs more evidence for each, and so more loads.
func TestHolmOverTheSuite(t *testing.T) {
	m := stattest.Usual(8)
	pairs := []bench.Pair{machinePair(m, "slow", 0.08)}
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		pairs = append(pairs, machinePair(m, name, 0))
	}
	c := comparison(pairs...)
	c.Confirmed = []bench.Pair{machinePair(m, "slow", 0.08)}
	v := Default().Compare(c, Options{}).All[0]
	if v.Outcome != Inconclusive || !strings.HasSuffix(v.Why, "16 loads are too few: 8 tests need at least 17") || v.Detectable != 0 {
		t.Errorf("%s: %s", v.Outcome, v.Why)
	}
	// Ignored tests do not make the others stricter.
	p := policy(t, "thresholds: [{benchmark: '?', measure: latency, severity: ignore}]\n")
	if v := p.Compare(c, Options{}).All[0]; v.Outcome != Regression || v.Tests != 1 {
		t.Errorf("%s over %d tests: %s", v.Outcome, v.Tests, v.Why)
	}
}

func TestThroughput(t *testing.T) {
	pair := timedPair("a", 0.1)
	for _, r := range []*bench.Result{pair.Base, pair.Head, pair.Again} {
		r.Samples = []bench.Sample{{Measure: bench.Throughput, Values: []float64{1}}}
	}
	c := comparison(pair)
	c.Confirmed = c.Pairs
	p := policy(t, "thresholds: [{measure: throughput, percent: 3}]\n")
	if v := only(t, p.Compare(c, Options{})); v.Outcome != Regression || v.Change.Ratio > 1 {
		t.Errorf("less throughput is worse: %s: %s", v.Outcome, v.Why)
	}
}

func TestStored(t *testing.T) {
	pair := timedPair("a", 0.05)
	pair.Again = nil
	c := comparison(pair)
	testbed := c.Testbed
	c.BaseTestbed = &testbed
	v := only(t, Default().Compare(c, Options{}))
	if v.Outcome != Regression || !strings.HasSuffix(v.Why, ", not measured side by side") || len(v.Change.Warnings) == 0 {
		t.Errorf("%s: %s", v.Outcome, v.Why)
	}
	if got := Default().Flagged(c); len(got) != 0 {
		t.Errorf("%q cannot be measured again beside the head", got)
	}
	other := testbed
	other.CPU = "another"
	c.BaseTestbed = &other
	if v := only(t, Default().Compare(c, Options{})); v.Outcome != Inconclusive || !strings.Contains(v.Why, "another testbed: CPU another, not ") {
		t.Errorf("%s: %s", v.Outcome, v.Why)
	}
	slight := timedPair("b", 0.022)
	slight.Again = nil
	if v := only(t, Default().Compare(comparison(slight), Options{})); v.Outcome == Regression {
		t.Errorf("the interval reaches into the threshold: %s: %s", v.Outcome, v.Why)
	}
}

// The gate, as a whole: a first measurement, a second one of what it flags, and the
// verdict on both, with thresholds of zero.
func TestSimulatedGate(t *testing.T) {
	p := policy(t, "thresholds: [{measure: latency, percent: 0, absolute: 0}]\n")
	rng := rand.New(rand.NewPCG(11, 12))
	machine := stattest.Usual(32)
	gate := func(growth float64) (v Verdict, flagged bool) {
		c := comparison(machine.Pair(rng, growth))
		if flagged = len(p.Flagged(c)) > 0; flagged {
			c.Confirmed = []bench.Pair{machine.Pair(rng, growth)}
		}
		return p.Compare(c, Options{}).All[0], flagged
	}
	found := map[Outcome]int{}
	looks, catches := 0, 0.0
	for range 2000 {
		v, flagged := gate(0)
		found[v.Outcome]++
		if flagged {
			looks++
		}
		catches += v.Detectable / 2000
	}
	of := func(growth float64) map[Outcome]int {
		found := map[Outcome]int{}
		for range 500 {
			v, _ := gate(growth)
			found[v.Outcome]++
		}
		return found
	}
	slower, faster, least := of(0.01), of(-0.01), of(catches)
	t.Logf("no change: %v in 2000, %d measured twice; 1%% slower: %v in 500; as much slower as a measurement says it would catch (%.2f%%): %v", found, looks, slower, catches*100, least)
	// It calls 2 of 160,000 comparisons without a change a regression.
	if found[Regression] > 1 || faster[Regression] != 0 {
		t.Errorf("%d false alarms, %d of something faster", found[Regression], faster[Regression])
	}
	if slower[Regression] < 475 {
		t.Errorf("1%% slower is caught %d times in 500", slower[Regression])
	}
	if found[Inconclusive] > 2000/100 {
		t.Errorf("no change is inconclusive in %d of 2000 comparisons", found[Inconclusive])
	}
	if least[Pass] > 500/100 {
		t.Errorf("what a measurement says it would catch passes %d times in 500", least[Pass])
	}
}
