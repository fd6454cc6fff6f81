package stat

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/stat/stattest"
)

// quiet is a machine that measures without any error.
var quiet = stattest.Machine{Net: 50, Floor: 42, Loads: 16, Rounds: 10}

func pairOf(m stattest.Machine, growth float64) *bench.Pair {
	p := m.Pair(rand.New(rand.NewPCG(7, 7)), growth)
	return &p
}

func TestComparePair(t *testing.T) {
	c, err := ComparePair(pairOf(quiet, 0.05), "latency", 0.99)
	if err != nil {
		t.Fatal(err)
	}
	// Speed varies by the round and the counters are whole nanoseconds.
	if !near(c.Ratio, 1.05, 2e-3) || !near(c.Delta, 2.5*1.05, 0.1) || !near(c.Base, 50*1.05, 1) || !near(c.Head, 52.5*1.05, 1) {
		t.Errorf("%+v: want 5%% more than some 52 ns", c)
	}
	if c.Loads != 16 || c.Rounds != 160 || !c.Paired || !c.Bounded() || c.Low > c.Ratio || c.High < c.Ratio {
		t.Errorf("%+v", c)
	}
	if c.P > 1e-4 || !c.Banded || c.Band > 1e-3 || c.Measure != bench.Latency {
		t.Errorf("p %v, band %v, measure %v", c.P, c.Band, c.Measure)
	}
}

// Where a reader can compute the change from the two sides, it is the one that is told,
// also if the head is slow in some loads alone.
func TestHeadIsBaseWithTheChange(t *testing.T) {
	for _, net := range []float64{50, 0.1} {
		m := quiet
		m.Net = net
		p, slow := pairOf(m, 0), pairOf(m, 0.3)
		for i, load := range slow.Head.Rounds.Load {
			if load < 9 {
				p.Head.Rounds.RunTimeNS[i] = slow.Head.Rounds.RunTimeNS[i]
			}
		}
		c, err := ComparePair(p, "latency", 0.99)
		if err != nil {
			t.Fatal(err)
		}
		by := c.Head - c.Base
		if !near(c.Delta, by, 1e-9) || net > 1 == c.NearZero() || net > 1 && (!near(c.Head, c.Base*c.Ratio, 1e-9) || c.Ratio < 1.1 || c.Ratio > 1.2) {
			t.Errorf("%+v: head of %v is not base with the change", c, net)
		}
	}
}

func TestComparePairOfOneLoadHasNoInterval(t *testing.T) {
	m := quiet
	m.Loads = 7
	c, err := ComparePair(pairOf(m, 0.05), "latency", 0.99)
	if err != nil || c.Bounded() || c.Banded || len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "at least 8") {
		t.Errorf("%+v %v: seven loads allow no interval of 99%%", c, err)
	}
}

// The noise of a round is the same in absolute terms for a program that costs
// little over a large floor, so the ratio must not divide net costs.
func TestComparePairOfATinyProgram(t *testing.T) {
	m := stattest.Machine{Net: 8, Floor: 42, Bias: 0.004, Noise: 0.01, Loads: 64, Rounds: 20}
	c, err := ComparePair(pairOf(m, 0), "latency", 0.99)
	if err != nil || math.Abs(c.Ratio-1) > 0.01 || c.Low > 1 || c.High < 1 || c.High-c.Low > 0.03 {
		t.Errorf("%+v %v", c, err)
	}
}

func TestComparePairOfNextToNothing(t *testing.T) {
	m := quiet
	m.Net = 0.1
	c, err := ComparePair(pairOf(m, 5), "latency", 0.99)
	if err != nil || !near(c.Ratio, 1.5, 0.05) || len(c.Warnings) != 1 {
		t.Errorf("%+v %v: 0.5 ns more are 50%% of one nanosecond", c, err)
	}
}

func TestComparePairOfThroughput(t *testing.T) {
	c, err := ComparePair(pairOf(quiet, 0.1), "throughput", 0.99)
	if err != nil || c.Ratio > 0.98 || c.High > 0.98 {
		t.Errorf("%+v %v: more time is less throughput", c, err)
	}
}

// A measure that is no counter's is compared by its values, if it has one for each round.
func TestComparePairOfASample(t *testing.T) {
	p := pairOf(quiet, 0.1)
	for i, r := range []*bench.Result{p.Base, p.Head, p.Again} {
		cost := []float64{200, 220, 200}[i]
		values := make([]float64, len(r.Rounds.RunCnt))
		for round := range values {
			values[round] = cost + float64(round%3)
		}
		r.Samples = append(r.Samples, bench.Sample{Measure: bench.Cycles, Values: values})
	}
	c, err := ComparePair(p, "cycles", 0.99)
	if err != nil || !near(c.Ratio, 1.1, 1e-3) || c.Loads != 16 || !c.Bounded() || c.Measure != bench.Cycles {
		t.Errorf("%+v %v", c, err)
	}
	p.Head.Samples = nil
	if _, err := ComparePair(p, "cycles", 0.99); err == nil || !strings.Contains(err.Error(), "no value for each round") {
		t.Errorf("error %v", err)
	}
}

func TestComparePairLeavesOutRounds(t *testing.T) {
	p := pairOf(quiet, 0)
	p.Head.Rounds.RunCnt[3] = 0
	c, err := ComparePair(p, "latency", 0.99)
	if err != nil || c.Rounds != 159 || len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "did not run in 1 round,") {
		t.Errorf("%+v %v", c, err)
	}
}

func TestComparePairRefuses(t *testing.T) {
	for name, spoil := range map[string]func(*bench.Pair){
		"not measured in pairs":  func(p *bench.Pair) { p.Again = nil },
		"the same rounds":        func(p *bench.Pair) { p.Head.Rounds.Load[0] = 9 },
		"different lengths":      func(p *bench.Pair) { p.Again.Rounds.Load = nil },
		"no round has a value":   func(p *bench.Pair) { clear(p.Head.Rounds.RunCnt) },
		"with itself: no round ": func(p *bench.Pair) { p.Again.Floor = bench.Counters{} },
	} {
		p := pairOf(quiet, 0)
		spoil(p)
		if _, err := ComparePair(p, "latency", 0.99); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want %q", err, name)
		}
	}
	many := stattest.Machine{Net: 50, Floor: 42, Loads: maxLoads + 1, Rounds: 1}
	if _, err := ComparePair(pairOf(many, 0), "latency", 0.99); err == nil || !strings.Contains(err.Error(), "2001 loads are more") {
		t.Errorf("got %v", err)
	}
	if _, err := ComparePair(pairOf(quiet, 0), "instructions", 0.99); err == nil {
		t.Error("an exact measure has no rounds")
	}
}

func TestCompareExact(t *testing.T) {
	sample := func(v ...float64) bench.Sample { return bench.Sample{Measure: bench.Instructions, Values: v} }
	c, err := CompareExact(sample(100), sample(103))
	if err != nil || c.Delta != 3 || c.Ratio != 1.03 || c.P != 1 || c.Banded {
		t.Errorf("%+v %v", c, err)
	}
	if c, _ := CompareExact(sample(0), sample(0)); c.Ratio != 1 {
		t.Errorf("nothing is as much as nothing: %+v", c)
	}
	if c, _ := CompareExact(sample(0), sample(3)); c.Ratio != 0 || c.Delta != 3 {
		t.Errorf("nothing has no multiple: %+v", c)
	}
	if s := Summarize(sample(7, 8)); len(s.Warnings) != 1 {
		t.Errorf("a measure that is not exact gives no warning: %+v", s)
	}
	if _, err := CompareExact(sample(), sample(1)); err == nil {
		t.Error("compared with nothing")
	}
}

// placenta is Hollander, Wolfe, Chicken, table 4.1.
func TestCompareStoredAgreesWithTheBook(t *testing.T) {
	result := func(values ...float64) *bench.Result {
		r := &bench.Result{Samples: []bench.Sample{{Measure: bench.LatencyRaw}}}
		for load, v := range values {
			r.Rounds.Add(load, uint64(math.Round(v*1000)), 10, 1, 0)
		}
		return r
	}
	base := result(0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46)
	head := result(1.15, 0.88, 0.90, 0.74, 1.21)
	c, err := CompareStored(base, head, "latency-raw", 0.95)
	if err != nil || !near(c.P, 0.2544, 1e-4) || !near(c.Delta, -30.5, 1e-6) {
		t.Errorf("%+v %v: the book has 0.1272 for one side and a shift of 0.305", c, err)
	}
	if !c.Bounded() || c.Low > c.Ratio || c.High < 1 || c.Banded || c.Paired || len(c.Warnings) != 1 {
		t.Errorf("%+v: want an interval around 1 and a warning that there is no band", c)
	}
	if c, err := CompareStored(result(1), result(2), "latency-raw", 0.95); err != nil || c.Bounded() || len(c.Warnings) != 2 {
		t.Errorf("%+v %v: one load has no interval", c, err)
	}
	if _, err := CompareStored(result(), head, "latency-raw", 0.95); err == nil {
		t.Error("compared with nothing")
	}
}

func TestRankSumCriticalAgreesWithTables(t *testing.T) {
	// Mann, Whitney: the largest U that is significant in a two-sided test.
	for _, c := range []struct{ n1, n2, want int }{{4, 4, 0}, {5, 5, 2}, {8, 8, 13}, {10, 10, 23}, {10, 15, 39}, {20, 20, 127}, {3, 3, -1}} {
		if got := rankSumCritical(c.n1, c.n2, 0.025) - 1; got != c.want {
			t.Errorf("%d and %d: %d, the table has %d", c.n1, c.n2, got, c.want)
		}
	}
	if exact, normal := rankSumCritical(50, 50, 0.005), rankSumCritical(51, 51, 0.005); normal <= exact || normal > exact+60 {
		t.Errorf("critical value jumps from %d to %d where the approximation starts", exact, normal)
	}
}

// If the base costs next to nothing, or less than the noise, the change is
// reported in its unit: the interval holds the truth there, too, and the
// detectable change is not a share of nothing.
func TestChangeNearZero(t *testing.T) {
	none, tiny, noisy, usual := stattest.Usual(32), stattest.Usual(32), stattest.Usual(32), stattest.Usual(32)
	none.Net, tiny.Net, noisy.Net = 0, 0.3, 3
	noisy.Bias = 2
	for name, c := range map[string]struct {
		machine stattest.Machine
		near    bool
	}{"none": {none, true}, "tiny": {tiny, true}, "noisy": {noisy, true}, "usual": {usual, false}} {
		change, err := ComparePair(pairOf(c.machine, 0), "latency", 0.99)
		if err != nil {
			t.Fatal(err)
		}
		if change.NearZero() != c.near {
			t.Errorf("%s: near zero: %v: %+v", name, change.NearZero(), change)
		}
		if change.By.Low > change.Delta || change.Delta > change.By.High || change.By.Band <= 0 {
			t.Errorf("%s: %+v", name, change)
		}
		by, ok := change.DetectableBy(Detection{Alpha: 0.01, Power: 0.95, Threshold: 0.02, Again: true})
		share, _ := change.Detectable(Detection{Alpha: 0.01, Power: 0.95, Threshold: 0.02, Again: true})
		if !ok || by <= change.By.Band || by > 100 {
			t.Errorf("%s: %v ns are caught", name, by)
		}
		if ratio := by / (share * change.Base); !c.near && (ratio < 0.95 || ratio > 1.05) {
			t.Errorf("%s: %v ns or %v%% are caught of %v ns", name, by, share*100, change.Base)
		}
	}
}
