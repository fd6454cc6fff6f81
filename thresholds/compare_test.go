package thresholds

import (
	"slices"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
)

func TestLastThresholdWins(t *testing.T) {
	p := policy(t, `
thresholds:
  - {measure: instructions, percent: 50}
  - {benchmark: "hot/*", measure: instructions, percent: 5}
  - {benchmark: "hot/*", measure: instructions, kernel: "5.*", severity: ignore}
  - {benchmark: hot/known, measure: instructions, absolute: 7, severity: warn}
`)
	c := comparison(exactPair("cold", 100, 140), exactPair("hot/a", 100, 106), exactPair("hot/known", 100, 107))
	v := p.Compare(c, Options{})
	if v.All[0].Outcome != Pass || v.All[1].Outcome != Regression || v.All[2].Outcome != Pass || v.All[2].Severity != Warn {
		t.Errorf("%+v", v.All)
	}
	if v.Overall() != Regression {
		t.Errorf("overall %s", v.Overall())
	}
	c.Testbed.Kernel = "5.10.1"
	if v := p.Compare(c, Options{}); v.All[1].Severity != Ignore || v.Overall() != Pass {
		t.Errorf("on the kernel that is ignored: %+v", v.All[1])
	}
	// The built-in policy fills in what the file leaves out.
	v = p.Compare(comparison(measured(bench.MapMemory, "a", 100, 111), measured(bench.Throughput, "b", 1, 1)), Options{})
	if got := only(t, v); got.Outcome != Regression || got.Severity != Warn || v.Overall() != Pass {
		t.Errorf("%+v: map memory warns, and nothing bounds throughput", got)
	}
}

func TestBudget(t *testing.T) {
	p := policy(t, `
thresholds:
  - {measure: instructions, max: 150}
  - {measure: instructions, max: 120, severity: warn}
  - {measure: throughput, min: 1000}
`)
	for _, c := range []struct {
		base, head float64
		want       Outcome
		severity   Severity
		why        string
	}{
		{100, 100, Pass, Fail, "100 instructions on both sides"},
		{130, 130, OverBudget, Warn, "130 instructions on both sides, over the maximum of 120 instructions"},
		{160, 160, OverBudget, Fail, "160 instructions on both sides, over the maximum of 150 instructions, over the maximum of 120 instructions"},
		{120, 121, Regression, Fail, "120 → 121 instructions (+1, +0.83%), no increase is allowed, over the maximum of 120 instructions"},
	} {
		pair := exactPair("a", c.base, c.head)
		pair.Head.Driver = "verify"
		v := only(t, p.Compare(comparison(pair), Options{}))
		if v.Outcome != c.want || v.Severity != c.severity || v.Why != c.why {
			t.Errorf("%v to %v: %s %s, %s", c.base, c.head, v.Severity, v.Outcome, v.Why)
		}
	}
	v := p.Compare(comparison(exactPair("a", 1, 1)), Options{})
	if len(v.All) != 2 || v.All[1].Outcome != Failed || v.All[1].Measure.Name != "throughput" || v.Overall() != Failed {
		t.Errorf("%+v: a budget that could not be applied has not been passed", v.All)
	}
}

// A budget on what was not measured is not kept.
func TestBudgetThatCouldNotBeApplied(t *testing.T) {
	p := policy(t, "thresholds: [{measure: xlated-bytes, max: 150}]\n")
	v := p.Compare(comparison(exactPair("a", 1, 1)), Options{})
	if got := v.All[len(v.All)-1]; got.Outcome != Failed || got.Severity != Fail || v.Overall() != Failed {
		t.Errorf("%+v, overall %s", got, v.Overall())
	}
}

// What calls of one run cost does not compare with what calls of many cost, but a
// count of single runs does.
func TestRunsOfOtherCalls(t *testing.T) {
	p := policy(t, "thresholds: [{measure: latency, percent: 5}]\n")
	for _, c := range []struct {
		base, head string
		measure    bench.Measure
		want       Outcome
	}{
		{"", "the packet", bench.Instructions, Inconclusive},
		{"the packet", "", bench.Latency, Inconclusive},
		{"the packet", "the context", bench.Instructions, Regression},
		{"", "the packet", bench.BPFInsns, Regression},
		{"", "the packet", bench.XlatedBytes, Regression},
	} {
		pair := measured(c.measure, "a", 100, 200)
		pair.Base.Fresh, pair.Head.Fresh = c.base, c.head
		v := only(t, p.Compare(comparison(pair), Options{}))
		if v.Outcome != c.want || (c.want == Inconclusive) != strings.Contains(v.Why, "depends on the packet that others leave") {
			t.Errorf("%s of %q and %q: %s, %s", c.measure.Name, c.base, c.head, v.Outcome, v.Why)
		}
	}
}

func TestMessages(t *testing.T) {
	p := policy(t, "thresholds: [{measure: latency, percent: 5}]\n")
	for _, c := range []struct {
		measure            bench.Measure
		base, head         float64
		baseEach, headEach uint64
		want               Outcome
		why                string
	}{
		{bench.BPFInsns, 72, 62, 10, 10, Improvement, "72 → 62 BPF instructions"},
		{bench.BPFInsns, 70, 60, 10, 12, Regression, "all runs of a message or call: 700 → 720 BPF instructions (+20, +2.9%), no increase is allowed; a message or call makes the program run 12 times, and 10 on the base"},
		{bench.BPFInsns, 50, 60, 12, 10, Pass, "all runs of a message or call: 600 BPF instructions on both sides; "},
		{bench.Instructions, 70, 80, 12, 10, Improvement, "all runs of a message or call: 840 → 800 instructions"},
		{bench.BPFInsnsFirst, 70, 80, 12, 10, Inconclusive, "a message or call makes the program run 10 times, and 12 on the base: their work is not the same"},
		{bench.Latency, 70, 60, 10, 12, Inconclusive, "a message or call makes the program run 12 times, and 10 on the base: their work is not the same; all of them cost about 720 ns, and 700 ns on the base"},
		{bench.XlatedBytes, 50, 60, 12, 10, Regression, "50 → 60 bytes"},
		{bench.BPFInsns, 70, 60, 100, 109, Improvement, "70 → 60"}, // what timers send varies
		{bench.BPFInsns, 70, 60, 0, 12, Improvement, "70 → 60"},    // of an earlier version
	} {
		pair := measured(c.measure, "a", c.base, c.head)
		pair.Base.Exchanged, pair.Head.Exchanged = &bench.Exchanged{Tried: 5, Runs: 5 * c.baseEach}, &bench.Exchanged{Tried: 7, Runs: 7 * c.headEach}
		v := only(t, p.Compare(comparison(pair), Options{}))
		if v.Outcome != c.want || !strings.HasPrefix(v.Why, c.why) {
			t.Errorf("%s %v → %v: %s, %s", c.measure.Name, c.base, c.head, v.Outcome, v.Why)
		}
	}
}

// A first run that is like all others has no measure of its own.
func TestFirstRuns(t *testing.T) {
	p := policy(t, "thresholds: []\n")
	for _, c := range []struct {
		base, baseFirst, head, headFirst float64 // 0: none
		want                             Outcome
	}{
		{15, 77, 15, 417, Regression},
		{15, 77, 15, 0, Improvement},
		{15, 0, 15, 77, Regression},
		{15, 77, 15, 77, Pass},
		{77, 0, 15, 77, Pass},
	} {
		pair := measured(bench.BPFInsns, "a", c.base, c.head)
		for r, v := range map[*bench.Result]float64{pair.Base: c.baseFirst, pair.Head: c.headFirst} {
			if v > 0 {
				r.Samples = append(r.Samples, bench.Sample{Measure: bench.BPFInsnsFirst, Values: []float64{v}})
			}
		}
		v := p.Compare(comparison(pair), Options{})
		if len(v.All) != 2 || v.All[1].Measure.Name != "bpf-insns-first" || v.All[1].Outcome != c.want {
			t.Errorf("%+v: %+v", c, v.All)
		}
	}
}

// What runs leave for later is judged where both sides' callbacks were called. A side
// without callbacks leaves nothing.
func TestLater(t *testing.T) {
	p := policy(t, "thresholds: []\n")
	never := -1.0 // called
	for _, c := range []struct {
		base, head []float64
		want       Outcome // "": not judged
	}{
		{nil, nil, ""},
		{[]float64{10}, []float64{10}, Pass},
		{[]float64{10}, []float64{11}, Regression},
		{[]float64{10}, nil, Improvement},
		{nil, []float64{10}, Regression},
		{[]float64{never}, []float64{never}, ""},
		{[]float64{10}, []float64{never}, Inconclusive},
		{[]float64{never}, []float64{10}, Inconclusive},
		{nil, []float64{never}, ""},
		{[]float64{10, never}, []float64{10, 10}, Inconclusive},
	} {
		pair := measured(bench.BPFInsns, "a", 5, 5)
		for r, calls := range map[*bench.Result][]float64{pair.Base: c.base, pair.Head: c.head} {
			sum := 0.0
			for _, n := range calls {
				later := bench.Later{Function: "tick", By: "timer"}
				if n != never {
					later.BPFInsns = &n
					sum += n
				}
				r.Later = append(r.Later, later)
			}
			if sum > 0 {
				r.Samples = append(r.Samples, bench.Sample{Measure: bench.BPFInsnsLater, Values: []float64{sum}})
			}
		}
		got := Outcome("")
		for _, v := range p.Compare(comparison(pair), Options{}).All {
			if v.Measure.Name == bench.BPFInsnsLater.Name {
				got = v.Outcome
			}
		}
		if got != c.want {
			t.Errorf("%v and %v: %q, want %q", c.base, c.head, got, c.want)
		}
	}
}

func TestBenchmarksOfOneSide(t *testing.T) {
	added, removed := exactPair("new", 0, 5), exactPair("old", 5, 0)
	added.Base, removed.Head = nil, nil
	v := Default().Compare(comparison(added, removed, exactPair("both", 1, 1)), Options{Strict: true})
	if v.All[0].Outcome != Added || v.All[0].Why != "new: 5 instructions" || v.All[1].Outcome != Removed || v.Overall() != Pass {
		t.Errorf("%+v %s", v.All, v.Overall())
	}
	p := policy(t, "thresholds: [{measure: instructions, max: 4}]\n")
	if v := only(t, p.Compare(comparison(added), Options{})); v.Outcome != OverBudget || v.Why != "new: 5 instructions, over the maximum of 4 instructions" {
		t.Errorf("%+v: a new benchmark has a budget too", v)
	}
}

func TestNotMeasured(t *testing.T) {
	broken := exactPair("broken", 5, 5)
	broken.Head.Error = "the verifier refused it"
	silent := exactPair("silent", 5, 5)
	silent.Head.Samples = nil
	mute := exactPair("mute", 5, 5)
	mute.Head.Samples, mute.Base.Samples = nil, nil
	base := exactPair("base", 5, 5)
	base.Base.Samples, base.Base.Error = nil, "no such map"
	for _, c := range []struct {
		pair    bench.Pair
		want    Outcome
		why     string
		overall Outcome
	}{
		{broken, Failed, "not measured on the head: the verifier refused it", Failed},
		{silent, Failed, "not measured", Failed},
		{mute, Failed, "nothing was measured", Failed},
		{base, Inconclusive, "not measured on the base: no such map", Pass},
	} {
		v := Default().Compare(comparison(c.pair), Options{})
		if got := only(t, v); got.Outcome != c.want || got.Why != c.why || v.Overall() != c.overall {
			t.Errorf("%s: %s, %s; overall %s", c.pair.Benchmark, got.Outcome, got.Why, v.Overall())
		}
	}
}

func TestOverall(t *testing.T) {
	of := func(outcomes ...Outcome) *Verdicts {
		v := &Verdicts{}
		for _, o := range outcomes {
			v.All = append(v.All, Verdict{Outcome: o, Severity: Fail})
		}
		return v
	}
	for _, c := range []struct {
		v            *Verdicts
		want, strict Outcome
	}{
		{of(Pass, Improvement, Accepted, Added), Pass, Pass},
		{of(Failed, Inconclusive, Removed), Removed, Removed},
		{of(OverBudget, Removed), OverBudget, OverBudget},
		{of(Pass, Inconclusive), Pass, Inconclusive},
		{of(Inconclusive, Failed), Failed, Failed},
		{of(Inconclusive, Failed, Regression), Regression, Regression},
		{of(OverBudget, Failed), OverBudget, OverBudget},
		{of(OverBudget, Regression), Regression, Regression},
		{of(), Failed, Failed},
		{&Verdicts{Partial: true, All: of(Pass).All}, Failed, Failed},
		{&Verdicts{All: []Verdict{{Outcome: Regression, Severity: Warn}, {Outcome: Failed, Severity: Ignore}}}, Pass, Pass},
	} {
		if got := c.v.Overall(); got != c.want {
			t.Errorf("%+v: %s, want %s", c.v.All, got, c.want)
		}
		c.v.Strict = true
		if got := c.v.Overall(); got != c.strict {
			t.Errorf("strict, %+v: %s, want %s", c.v.All, got, c.strict)
		}
	}
}

func TestHistory(t *testing.T) {
	past := []float64{500, 500, 98, 100, 102, 100, 99, 101, 100, 100, 99, 101}
	for _, c := range []struct {
		history string
		head    float64
		want    Outcome
		why     string
	}{
		{"{runs: 10}", 100, Pass, "100 instructions, t_test over 10 runs allows 97.4..103 instructions"},
		{"{runs: 10}", 103, Regression, ""},
		{"{runs: 10}", 97, Improvement, ""},
		{"{test: iqr, boundary: 3, runs: 10}", 105, Regression, ""},
		{"{test: delta_iqr, boundary: 3, runs: 10}", 110, Regression, ""},
		{"{test: z_score, runs: 10}", 103, Regression, ""},
		{"{test: z_score, runs: 10}", 101, Pass, ""},
		{"{test: percentage, boundary: 0.1, runs: 10}", 109, Pass, ""},
		{"{test: static, boundary: 90}", 91, Regression, "91 instructions, the static limit is 90 instructions"},
		{"{test: static, boundary: 90}", 89, Pass, ""},
		{"{min_runs: 13}", 100, Inconclusive, "only 12 earlier runs on this testbed: t_test needs at least 13"},
	} {
		p := policy(t, "thresholds: [{measure: instructions, history: "+c.history+"}]\n")
		pair := exactPair("a", 0, c.head)
		pair.Base = nil
		v := only(t, p.Compare(comparison(pair), Options{History: func(string, string) []float64 { return past }}))
		if v.Outcome != c.want || c.why != "" && v.Why != c.why {
			t.Errorf("%s of %v: %s, %s; want %s", c.history, c.head, v.Outcome, v.Why, c.want)
		}
		// An unchanged base does not outweigh the verdict of the history.
		v = only(t, p.Compare(comparison(exactPair("a", c.head, c.head)), Options{History: func(string, string) []float64 { return past }}))
		want := c.want
		if want == Improvement {
			want = Pass
		}
		if v.Outcome != want || !strings.Contains(v.Why, " on both sides; ") || !strings.HasSuffix(v.Why, c.why) {
			t.Errorf("%s beside a base: %s, %s", c.history, v.Outcome, v.Why)
		}
	}
}

func TestHistoryThatSaysNothingIsNoPass(t *testing.T) {
	p := policy(t, "thresholds: [{benchmark: a, measure: instructions, history: {runs: 10}}]\n")
	added := exactPair("a", 0, 100)
	added.Base = nil
	for _, c := range []struct {
		history func(string, string) []float64
		want    string
	}{
		{nil, "no earlier run on this testbed: t_test needs at least 10"},
		{func(string, string) []float64 { return []float64{100} }, "only 1 earlier run on this testbed: t_test needs at least 10"},
	} {
		v := p.Compare(comparison(added, exactPair("b", 1, 1)), Options{History: c.history, Strict: true})
		if got := v.All[0]; got.Outcome != Inconclusive || got.Why != c.want || v.Overall() != Inconclusive {
			t.Errorf("%s, %s; overall %s", got.Outcome, got.Why, v.Overall())
		}
		v = p.Compare(comparison(exactPair("a", 100, 100), exactPair("b", 100, 100)), Options{History: c.history})
		if v.All[0].Outcome != Inconclusive || v.All[1].Outcome != Pass {
			t.Errorf("beside a base: %+v", v.All)
		}
	}
}

// Counts do not vary, so a constant history is a limit and not a missing one.
func TestHistoryOfCounts(t *testing.T) {
	p := policy(t, "thresholds: [{measure: instructions, history: {}}]\n")
	past := func(string, string) []float64 { return slices.Repeat([]float64{124.25}, 12) }
	for head, want := range map[float64]Outcome{124.25: Pass, 124.5: Regression, 124: Improvement} {
		pair := exactPair("a", 0, head)
		pair.Base = nil
		v := only(t, p.Compare(comparison(pair), Options{History: past}))
		if v.Outcome != want || !strings.HasSuffix(v.Why, "t_test over 12 runs allows just 124.25 instructions") {
			t.Errorf("%v: %s, %s", head, v.Outcome, v.Why)
		}
	}
}

// A regression of either kind is one: history cannot outvote the base, nor the base
// history, and ignoring or accepting applies to both.
func TestHistoryAndBase(t *testing.T) {
	past := func(string, string) []float64 { return []float64{98, 100, 102, 100, 99, 101, 100, 100, 99, 101} }
	const byHistory = "{measure: instructions, history: {}}"
	for _, c := range []struct {
		name, rules string
		base, head  float64
		want        Outcome
		severity    Severity
	}{
		{"both pass", byHistory, 100, 100, Pass, Fail},
		{"slower than the base", byHistory, 90, 100, Regression, Fail},
		{"slower than ever", byHistory, 200, 200, Regression, Fail},
		{"history warns", "{measure: instructions, history: {}, severity: warn}", 200, 200, Regression, Warn},
		{"the base is ignored", "{measure: instructions, severity: ignore}, " + byHistory, 1, 200, Regression, Fail},
		{"all is ignored", byHistory + ", {measure: instructions, severity: ignore}", 1, 200, Regression, Ignore},
	} {
		p := policy(t, "thresholds: ["+c.rules+"]\n")
		v := only(t, p.Compare(comparison(exactPair("a", c.base, c.head)), Options{History: past}))
		if v.Outcome != c.want || v.Severity != c.severity {
			t.Errorf("%s: %s %s, %s", c.name, v.Severity, v.Outcome, v.Why)
		}
	}
	p := policy(t, "thresholds: ["+byHistory+"]\naccept: [{benchmark: a, measure: instructions, up_to: 20%, until: 9999-01-01, reason: known}]\n")
	v := only(t, p.Compare(comparison(exactPair("a", 100, 115)), Options{History: past}))
	if v.Outcome != Accepted {
		t.Errorf("accepted: %s, %s", v.Outcome, v.Why)
	}
}

func TestJudgeHistory(t *testing.T) {
	p := policy(t, "thresholds: [{benchmark: a, measure: instructions, history: {runs: 10}}, {benchmark: b, measure: instructions, history: {test: static, boundary: 5}}]\n")
	run := &bench.Run{Results: []bench.Result{*exactPair("a", 0, 110).Head, *exactPair("b", 0, 5).Head, *exactPair("c", 0, 5).Head}}
	var asked []string
	for benchmark, measure := range p.Historic(run) {
		asked = append(asked, benchmark+" "+measure)
	}
	if !slices.Equal(asked, []string{"a instructions"}) {
		t.Errorf("asked for %q: only a has a test that needs earlier values", asked)
	}
	v := p.JudgeHistory(run, Options{History: func(string, string) []float64 {
		return []float64{98, 100, 102, 100, 99, 101, 100, 100, 99, 101}
	}})
	if len(v) != 2 || v[0].Outcome != Regression || v[1].Outcome != Pass {
		t.Errorf("%+v", v)
	}
}

func TestLoadRefusesMore(t *testing.T) {
	for text, want := range map[string]string{
		"thresholds: [{measure: latency, percent: -1}]":                                                           "percent is not a number from 0 up",
		"thresholds: [{measure: latency, absolute: .inf}]":                                                        "absolute is not a number from 0 up",
		"thresholds: [{measure: latency, percent: 1, confidence: 1}]":                                             "confidence is a probability",
		"thresholds: [{measure: latency, percent: 1, confidence: 0}]":                                             "confidence is a probability",
		"thresholds: [{measure: latency, percent: 1, severity: error}]":                                           `severity: "error" is none of fail, warn, ignore`,
		"thresholds: [{measure: latency, percent: 1, direction: up}]":                                             `direction: "up" is none of worse, both`,
		"thresholds: [{measure: latency, history: {test: ttest}}]":                                                `unknown test "ttest" (did you mean "t_test"?)`,
		"thresholds: [{measure: latency, history: {test: iqr}}]":                                                  "iqr needs a boundary",
		"thresholds: [{measure: latency, history: {boundary: 2}}]":                                                "the boundary of t_test is a probability",
		"thresholds: [{measure: latency, history: {runs: 5, min_runs: 6}}]":                                       "min_runs is at least 2 and at most runs",
		"thresholds: [{measure: latency, direction: both, history: {test: static, boundary: 1}}]":                 "static has one limit",
		"thresholds: [{measure: latency, severity: warn}]":                                                        "a threshold has percent",
		"accept: [{benchmark: a, measure: latency, up_to: 10%, until: 2027-01-31}]":                               "an accepted regression has no reason",
		"accept: [{benchmark: a, measure: latency, up_to: 10%, reason: b}]":                                       "an accepted regression has no until",
		"accept: [{benchmark: a, measure: latency, until: 2027-01-31, reason: b}]":                                "an accepted regression has no up_to",
		"accept: [{measure: latency, up_to: 1, until: 2027-01-31, reason: b}]":                                    "an accepted regression has no benchmark",
		"accept: [{benchmark: a, measure: latency, up_to: ten, until: 2027-01-31, reason: b}]":                    `up_to: "ten" is neither`,
		"accept: [{benchmark: a, measure: latency, up_to: -1%, until: 2027-01-31, reason: b}]":                    `up_to: "-1%" is neither`,
		"accept: [{benchmark: a, measure: latency, up_to: 1, until: 31.1.2027, reason: b}]":                       `until: "31.1.2027" is not a date such as 2027-01-31`,
		"accept: [{benchmark: a, measure: latancy, up_to: 1, until: 2027-01-31, reason: b}]":                      `unknown measure "latancy" (did you mean "latency"?)`,
		"accept: [{benchmark: a, measure: latency, up_to: 1, until: 2027-01-31, reason: b, because: it is slow}]": `unknown key "because"`,
	} {
		if _, err := load("version: 1\n" + text + "\n"); err == nil || !strings.Contains(err.Error(), "t.yml:2: "+want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

func TestCheckRefusesAnAcceptanceOfNothing(t *testing.T) {
	p := policy(t, "accept: [{benchmark: x*, measure: latency, up_to: 1, until: 2027-01-31, reason: b}]\n")
	if err := p.Check(Scope{Benchmarks: []Benchmark{{Name: "a"}}}); err == nil || !strings.Contains(err.Error(), `t.yml:2: no benchmark matches "x*"`) {
		t.Errorf("got %v", err)
	}
}
