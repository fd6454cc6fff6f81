package thresholds

import (
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// Of runs that are of several kinds each kind is judged by itself. Shares that shift
// and kinds of one side alone are no regression, but no pass either.
func TestKindsOfRuns(t *testing.T) {
	p := policy(t, "thresholds: []\n")
	const drop, pass, tx = 1, 2, 3
	two := func(dropped, passed, of uint64) []bench.Kind {
		return []bench.Kind{{Retval: drop, BPFInsns: dropped, Runs: 1000 - of}, {Retval: pass, BPFInsns: passed, Runs: of}}
	}
	for name, c := range map[string]struct {
		base, head []bench.Kind
		want       Outcome
		why        string
	}{
		"the same":                           {two(15, 77, 50), two(15, 77, 60), Pass, "XDP_DROP 15 → 15, 94% of runs; XDP_PASS 77 → 77, 6% of runs"},
		"rare and dear":                      {two(15, 77, 50), two(15, 417, 50), Regression, "XDP_DROP 15 → 15, 95% of runs; XDP_PASS 77 → 417 (+442%), 5% of runs; no increase is allowed"},
		"both ways":                          {two(15, 77, 50), two(16, 47, 50), Regression, "XDP_DROP 15 → 16 (+6.7%), 95% of runs; XDP_PASS 77 → 47 (-39.0%), 5% of runs"},
		"cheaper":                            {two(15, 77, 50), two(15, 47, 50), Improvement, "XDP_PASS 77 → 47 (-39.0%)"},
		"shifted":                            {two(15, 77, 50), two(15, 77, 500), Inconclusive, "XDP_DROP 15 → 15, 95% → 50% of runs; XDP_PASS 77 → 77, 5% → 50% of runs"},
		"cheaper, and shifted":               {two(15, 77, 50), two(15, 47, 500), Inconclusive, "XDP_PASS 77 → 47 (-39.0%), 5% → 50% of runs"},
		"dearer, and shifted":                {two(15, 77, 50), two(15, 97, 500), Regression, "XDP_PASS 77 → 97 (+26.0%), 5% → 50% of runs"},
		"rare on both sides":                 {two(15, 77, 12), two(15, 417, 11), Regression, "XDP_PASS 77 → 417 (+442%), 1% of runs"},
		"another end":                        {two(15, 77, 50), append(two(15, 77, 50), bench.Kind{Retval: tx, BPFInsns: 9, Runs: 40}), Inconclusive, "XDP_TX 9, 4% of runs of the head alone"},
		"an end that chance may have missed": {two(15, 77, 50), append(two(15, 77, 50), bench.Kind{Retval: tx, BPFInsns: 900, Runs: 4}), Pass, "XDP_PASS 77 → 77, 5% of runs"},
		"one end of several kinds": {
			[]bench.Kind{{Retval: pass, BPFInsns: 10, Runs: 500}, {Retval: pass, BPFInsns: 20, Runs: 500}},
			[]bench.Kind{{Retval: pass, BPFInsns: 10, Runs: 500}, {Retval: pass, BPFInsns: 21, Runs: 500}},
			Regression, "XDP_PASS 10 → 10, 50% of runs; XDP_PASS 20 → 21 (+5.0%), 50% of runs",
		},
		"that change places": {
			[]bench.Kind{{Retval: pass, BPFInsns: 100, Runs: 880}, {Retval: pass, BPFInsns: 300, Runs: 120}},
			[]bench.Kind{{Retval: pass, BPFInsns: 60, Runs: 110}, {Retval: pass, BPFInsns: 280, Runs: 890}},
			Regression, "XDP_PASS 100 → 280 (+180%), 88% of runs; XDP_PASS 300 → 60 (-80.0%), 12% of runs",
		},
		"one kind more": {
			[]bench.Kind{{Retval: pass, BPFInsns: 10, Runs: 500}, {Retval: pass, BPFInsns: 20, Runs: 500}},
			[]bench.Kind{{Retval: pass, BPFInsns: 10, Runs: 500}, {Retval: pass, BPFInsns: 15, Runs: 250}, {Retval: pass, BPFInsns: 20, Runs: 250}},
			Inconclusive, "XDP_PASS 20, 50% of runs of the base alone; XDP_PASS 10, 50% of runs of the head alone",
		},
	} {
		pair := measured(bench.BPFInsns, "a", 0, 0)
		for r, kinds := range map[*bench.Result][]bench.Kind{pair.Base: c.base, pair.Head: c.head} {
			var sum, runs float64
			for _, k := range kinds {
				sum, runs = sum+float64(k.BPFInsns*k.Runs), runs+float64(k.Runs)
			}
			r.Type, r.Kinds = "xdp", kinds
			r.Samples[0].Values = []float64{float64(kinds[0].BPFInsns), sum / runs, float64(kinds[len(kinds)-1].BPFInsns)}
		}
		v := only(t, p.Compare(comparison(pair), Options{}))
		if v.Outcome != c.want || !strings.Contains(v.Why, c.why) {
			t.Errorf("%s: %s, %s", name, v.Outcome, v.Why)
		}
		if same := v.Change.Delta == 0; same != (name == "the same" || strings.HasPrefix(name, "an end")) {
			t.Errorf("%s: %v → %v", name, v.Change.Base, v.Change.Head)
		}
	}
}
