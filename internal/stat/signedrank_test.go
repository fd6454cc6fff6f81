package stat

import (
	"math"
	"testing"
)

func near(got, want, tolerance float64) bool { return math.Abs(got-want) <= tolerance }

// depression holds the differences of Hollander, Wolfe, Chicken, table 3.1.
var depression = []float64{0.952, -0.147, 1.022, 0.430, 0.620, 0.590, 0.490, -0.080, 0.010}

func TestSignedRankAgreesWithTheBook(t *testing.T) {
	if p := signedRankP(depression); !near(p, 0.0390625, 1e-12) {
		t.Errorf("p %v, the book has 0.0195 for one side", p)
	}
	l := locate(depression, 0.95)
	if !near(l.center, 0.46, 1e-9) || !near(l.low, 0.010, 1e-9) || !near(l.high, 0.786, 1e-9) {
		t.Errorf("%+v, the book has 0.46 in 0.010 to 0.786", l)
	}
}

func TestSignedRankAgreesWithTables(t *testing.T) {
	// Wilcoxon, Katti, Wilcox (1970): the largest rank sum that is significant
	// in a two-sided test.
	for _, c := range []struct {
		n      int
		alpha  float64
		wanted int
	}{
		{6, 0.05, 0}, {7, 0.05, 2}, {8, 0.05, 3}, {9, 0.05, 5}, {10, 0.05, 8}, {12, 0.05, 13},
		{15, 0.05, 25}, {20, 0.05, 52}, {25, 0.05, 89}, {30, 0.05, 137}, {50, 0.05, 434},
		{8, 0.01, 0}, {10, 0.01, 3}, {20, 0.01, 37}, {25, 0.01, 68}, {30, 0.01, 109},
		{5, 0.05, -1}, {7, 0.01, -1},
	} {
		if got := signedRankCritical(c.n, c.alpha/2) - 1; got != c.wanted {
			t.Errorf("n %d α %v: %d, the table has %d", c.n, c.alpha, got, c.wanted)
		}
	}
}

func TestSignedRankOfTiesAndZeros(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{nil, 1}, {[]float64{0, 0, 0}, 1}, {[]float64{5}, 1},
		{[]float64{1, 1, 1, 1, 1}, 2.0 / 32},
		{[]float64{0, 1, 1, 1, 1, 1, 0}, 2.0 / 32},
		{[]float64{1, -1}, 1},
		// Ranks 1.5, 1.5, 3: of 8 sums only 0 is as small as 0, only 1.5
		// (twice) and 0 as small as 1.5.
		{[]float64{1, 1, 2}, 2.0 / 8}, {[]float64{-1, 1, 2}, 6.0 / 8},
	} {
		if got := signedRankP(c.values); !near(got, c.want, 1e-12) {
			t.Errorf("%v: p %v, want %v", c.values, got, c.want)
		}
	}
}

func TestNormalApproximationMeetsTheExactOne(t *testing.T) {
	values := make([]float64, exactLimit)
	for i := range values {
		values[i] = float64(i%17) + float64(i)/1000 - 6.5
	}
	ranks, positive := signedRanks(values)
	total := exactLimit * (exactLimit + 1)
	if got, want := signedRankNormalP(ranks, min(positive, total-positive), total), signedRankP(values); !near(got, want, 1e-4) {
		t.Errorf("normal p %v, exact %v", got, want)
	}
	if got, want := signedRankCritical(exactLimit+1, 0.005), signedRankCritical(exactLimit, 0.005); got <= want || got > want+150 {
		t.Errorf("critical value jumps from %d to %d at the limit", want, got)
	}
}

func TestMinLoads(t *testing.T) {
	for alpha, want := range map[float64]int{0.05: 6, 0.01: 8, 0.01 / 8: 11} {
		if got := MinLoads(alpha); got != want || signedRankCritical(want, alpha/2) < 1 || signedRankCritical(want-1, alpha/2) > 0 {
			t.Errorf("α %v: %d, want %d", alpha, got, want)
		}
	}
}

func TestHolm(t *testing.T) {
	got := Holm([]float64{0.01, 0.04, 0.03, 0.005})
	for i, want := range []float64{0.03, 0.06, 0.06, 0.02} {
		if !near(got[i], want, 1e-12) {
			t.Errorf("got %v, want 0.03 0.06 0.06 0.02", got)
		}
	}
	if got := Holm([]float64{0.6, 0.7}); got[0] != 1 || got[1] != 1 {
		t.Errorf("a probability over 1: %v", got)
	}
	if len(Holm(nil)) != 0 {
		t.Error("no test has a p-value")
	}
}
