package stat

import (
	"math/rand/v2"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/stat/stattest"
	"github.com/org/ebpf-bench-action/internal/testenv"
)

// caught reports whether two measurements meet the requirements of a verdict.
func caught(t *testing.T, d Detection, pairs ...*bench.Pair) bool {
	t.Helper()
	c, err := ComparePairs(pairs, "latency", 0.99)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pairs {
		half, err := ComparePair(p, "latency", 0.99)
		if err != nil {
			t.Fatal(err)
		}
		if !half.Agrees(&c) {
			return false
		}
	}
	return c.P <= d.Alpha && c.Low-1 > c.Band && c.Ratio-1 > d.Threshold
}

// Changes that Detectable promises to catch are caught as often as it says, by
// measurements other than the one that made the promise.
func TestDetectableIsCaught(t *testing.T) {
	testenv.Plain(t)
	rng := rand.New(rand.NewPCG(3, 4))
	const trials = 400
	for _, c := range []struct {
		loads     int
		threshold float64
	}{{16, 0}, {32, 0}, {32, 0.02}} {
		machine := stattest.Usual(c.loads)
		want := Detection{Alpha: 0.01 / 8, Threshold: c.threshold, Power: 0.95, Again: true}
		n, total := 0, 0.0
		for range trials {
			p := machine.Pair(rng, 0)
			promise, err := ComparePair(&p, "latency", 0.99)
			if err != nil {
				t.Fatal(err)
			}
			growth, ok := promise.Detectable(want)
			if !ok {
				t.Fatal("nothing is detectable")
			}
			total += growth
			first, second := machine.Pair(rng, growth), machine.Pair(rng, growth)
			if caught(t, want, &first, &second) {
				n++
			}
		}
		share := float64(n) / trials
		t.Logf("%d loads, threshold %g%%: %.2f%% are detectable, and caught in %.1f%%", c.loads, c.threshold*100, total/trials*100, share*100)
		if share < 0.92 || share > 0.985 {
			t.Errorf("%d loads, threshold %g: caught in %.3f of all cases, promised 0.95", c.loads, c.threshold, share)
		}
	}
}

func TestNothingIsDetectableWithTooFewLoads(t *testing.T) {
	c, err := ComparePair(pairOf(stattest.Usual(10), 0), "latency", 0.99)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := c.Detectable(Detection{Alpha: 0.01, Power: 0.95}); !ok {
		t.Error("ten loads reach 0.01")
	}
	if _, ok := c.Detectable(Detection{Alpha: 0.01 / 8, Power: 0.95}); ok {
		t.Error("ten loads do not reach 0.00125")
	}
}

// The intervals hold the truth as often as they claim.
func TestIntervalCovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	held, trials := 0, 600
	for range trials {
		p := stattest.Usual(16).Pair(rng, 0.03)
		c, err := ComparePair(&p, "latency", 0.95)
		if err != nil {
			t.Fatal(err)
		}
		if c.Low <= 1.03 && 1.03 <= c.High {
			held++
		}
	}
	if share := float64(held) / float64(trials); share < 0.925 || share > 0.98 {
		t.Errorf("an interval of 95%% holds the truth in %.3f of all cases", share)
	}
}

func TestPlanLoads(t *testing.T) {
	pilot := pairOf(stattest.Usual(12), 0)
	target := Target{Effect: 0.01, Confidence: 0.99, Alpha: 0.0002, Tests: 8, Power: 0.95, Max: 200}
	plan, err := PlanLoads(pilot, "latency", target)
	if err != nil || plan.Min != 11 || plan.Loads < 12 || plan.Loads > 60 || plan.Loads < plan.Wanted {
		t.Errorf("%+v %v: a bias of 0.4%% and an effect of 1%% need some twenty loads, twice", plan, err)
	}
	t.Logf("%+v", plan)
	finer := target
	finer.Effect = 0.0025
	if more, _ := PlanLoads(pilot, "latency", finer); more.Wanted < 12*plan.Wanted || more.Loads >= more.Wanted || more.Loads != 200 {
		t.Errorf("%+v: a quarter of the effect needs some sixteen times the loads", more)
	}
	coarse := target
	coarse.Effect = 1
	if least, _ := PlanLoads(pilot, "latency", coarse); least.Loads != least.Min {
		t.Errorf("%+v: the test needs its minimum", least)
	}
}

// The number of loads must not depend on what is to be tested.
func TestPlanLoadsDoesNotLookAtTheHead(t *testing.T) {
	target := Target{Effect: 0.01, Confidence: 0.99, Alpha: 0.0002, Tests: 1, Power: 0.95}
	pilot := pairOf(stattest.Usual(12), 0)
	before, err := PlanLoads(pilot, "latency", target)
	if err != nil {
		t.Fatal(err)
	}
	pilot.Head = nil
	if after, err := PlanLoads(pilot, "latency", target); err != nil || after != before {
		t.Errorf("%+v %v without a head, %+v with one", after, err, before)
	}
	for _, p := range []*bench.Pair{{Base: pilot.Base}, pairOf(stattest.Usual(1), 0)} {
		if _, err := PlanLoads(p, "latency", target); err == nil {
			t.Error("planned without a spread")
		}
	}
}

// A comparison of as many loads as planned catches the effect.
func TestPlanSuffices(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	target := Target{Effect: 0.02, Confidence: 0.99, Alpha: 0.0002, Tests: 8, Power: 0.95}
	n, trials := 0, 300
	for range trials {
		machine := stattest.Usual(12)
		pilot := machine.Pair(rng, 0)
		plan, err := PlanLoads(&pilot, "latency", target)
		if err != nil {
			t.Fatal(err)
		}
		machine.Loads = plan.Loads
		first, second := machine.Pair(rng, target.Effect), machine.Pair(rng, target.Effect)
		if caught(t, Detection{Alpha: target.Alpha / 8}, &first, &second) {
			n++
		}
	}
	if share := float64(n) / float64(trials); share < 0.93 {
		t.Errorf("caught in %.3f of all cases, planned for 0.95", share)
	} else {
		t.Logf("caught in %.3f", share)
	}
}
