package thresholds

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/org/ebpf-bench-action/internal/bench"
)

func load(text string) (*Policy, error) {
	return Load(fstest.MapFS{"t.yml": {Data: []byte(text)}}, "t.yml")
}

func TestMarkTakesTheMedian(t *testing.T) {
	run := &bench.Run{Results: []bench.Result{
		{Benchmark: "xdp/slow", Samples: []bench.Sample{{Measure: bench.Latency, Values: []float64{99, 101, 500}}}},
		{Benchmark: "xdp/fast", Samples: []bench.Sample{{Measure: bench.Latency, Values: []float64{10, 100, 500}}}},
		{Benchmark: "other", Samples: []bench.Sample{{Measure: bench.Latency, Values: []float64{1000}}}},
		{Benchmark: "xdp/none"},
	}}
	p, err := load("version: 1\nthresholds:\n  - {benchmark: xdp/*, measure: latency, max: 100}\n  - {measure: throughput, min: 0}\n")
	if err != nil {
		t.Fatal(err)
	}
	alerts := marked(p, run)
	if len(alerts) != 1 || len(run.Results[0].Alerts) != 1 || alerts[0].Value != 101 || alerts[0].Limit != 100 {
		t.Errorf("alerts %+v: want only the median that is over the budget", alerts)
	}
	if got := p.Unjudged(run); len(got) != 5 || got[0] != (Gap{"xdp/slow", "throughput", "not measured"}) {
		t.Errorf("unjudged %q: want the measures that have no values", got)
	}
	if alerts := marked(Default(), run); len(alerts) != 0 {
		t.Errorf("the defaults raise %+v", alerts)
	}
}

func TestLoadRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"version: 2\n": "t.yml:1: version must be 1",
		"version: 1\nthresholds:\n  - {measure: latency, maxx: 1}\n":   `t.yml:3: unknown key "maxx": did you mean "max"?`,
		"version: 1\nthresholds:\n  - {max: 1}\n":                      "t.yml:3: measure is missing: it is one of latency, ",
		"version: 1\nthresholds:\n  - {measure: latency}\n":            "t.yml:3: a threshold has percent, absolute, max, min or history, or severity: ignore",
		"version: 1\nthresholds:\n  - {measure: latency, max: .nan}\n": "t.yml:3: max is not a number",
		// More of the one is better and less of the other. A budget in the wrong direction
		// would fail improvements.
		"version: 1\nthresholds:\n  - {measure: throughput, max: 1}\n":    "t.yml:3: more throughput is better: its budget is a min",
		"version: 1\nthresholds:\n  - {measure: latency, min: 1}\n":       "t.yml:3: less latency is better: its budget is a max",
		"version: 1\nthresholds:\n  - {measure: throughput, min: .inf}\n": "t.yml:3: min is not a number",
		// An empty item has its line, and so have those after it.
		"version: 1\nthresholds:\n  - null\n  - {measure: latency, max: 1}\n":     "t.yml:3: an item of thresholds is empty",
		"version: 1\nthresholds: {measure: latency, max: 1}\n":                    "t.yml:2: thresholds is a list",
		"version: 1\nthresholds:\n  - {measure: [latency], max: 1}\n":             "t.yml:3: measure is a single value",
		"version: 1\nthresholds:\n  - {measure: latency, history: {runs: 1.5}}\n": `t.yml:3: runs: "1.5" is not a whole number`,
		"version: 1\nthresholds:\n  - {measure: latency, max: lots}\n":            `t.yml:3: max: "lots" is not a number`,
		// The unit is known, so the error can say what was meant.
		"version: 1\nthresholds:\n  - {measure: latency, percent: 5%}\n":                    `t.yml:3: percent: "5%" is not a number: write 5`,
		"version: 1\nthresholds:\n  - {measure: latency, percent: some%}\n":                 `t.yml:3: percent: "some%" is not a number`,
		"version: 1\naccept:\n  - {benchmark: a, up_to: 1, until: 2027-01-31, reason: b}\n": "t.yml:3: measure is missing",
	} {
		if _, err := load(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
	if _, err := Load(fstest.MapFS{}, "gone.yml"); err == nil || !strings.Contains(err.Error(), "gone.yml") {
		t.Errorf("a missing file: %v", err)
	}
}

// A result itself says which of its measures are over budget.
func TestMark(t *testing.T) {
	p := policy(t, "thresholds: [{measure: instructions, max: 150}, {measure: instructions, max: 120, severity: warn}]\n")
	run := &bench.Run{Results: []bench.Result{*exactPair("a", 0, 160).Head, *exactPair("b", 0, 100).Head}}
	run.Results[1].Alerts = []bench.Alert{{Measure: "of another file"}}
	p.Mark(run)
	want := []bench.Alert{{Measure: "instructions", Value: 160, Limit: 150, Severity: "fail"}, {Measure: "instructions", Value: 160, Limit: 120, Severity: "warn"}}
	if got := run.Results[0].Alerts; !slices.Equal(got, want) || run.Results[1].Alerts != nil {
		t.Errorf("%+v, %+v", got, run.Results[1].Alerts)
	}
}

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"", "a/b", true}, {"*", "a/b/c", true}, {"a/*", "a/b/c", true}, {"*/c", "a/b/c", true}, {"a", "a/b", false},
		{"a/?", "a/b", true}, {"a/?", "a/bc", false}, {"a.b", "axb", false}, {"(", "(", true}, {"[a]", "a", false},
		{"*a?c*", "xxabcaxcy", true}, {"a*b*c", "abbd", false}, {"?", "ü", true}, {"??", "ü", false}, {"a*", "a", true}, {"*ü", "aüü", true},
	} {
		if got := match(c.pattern, c.name); got != c.want {
			t.Errorf("%q is for %q: %v", c.pattern, c.name, got)
		}
	}
}

func TestCheckRefusesAThresholdForNothing(t *testing.T) {
	p, err := load("version: 1\nthresholds:\n  - {measure: latency, max: 1}\n  - {benchmark: xdp/*, measure: latency, max: 1}\n")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Check(Scope{Benchmarks: []Benchmark{{Name: "a"}, {Name: "xdp/b"}}}); err != nil {
		t.Error(err)
	}
	if err := p.Check(Scope{Benchmarks: []Benchmark{{Name: "a"}, {Name: "b"}}}); err == nil || !strings.Contains(err.Error(), `t.yml:4: no benchmark matches "xdp/*": there are a, b`) {
		t.Errorf("got %v", err)
	}
}

// Any file is either refused or judges without panicking.
func FuzzLoad(f *testing.F) {
	f.Add("version: 1\nthresholds:\n  - {benchmark: a*, measure: latency, max: 1}\n")
	f.Add("version: 1\nthresholds:\n  - {measure: latency, percent: 2, absolute: .5, confidence: .95, direction: both, severity: warn, kernel: '6.*'}\n")
	f.Add("version: 1\nthresholds:\n  - {measure: instructions, history: {test: iqr, boundary: 2, runs: 8, min_runs: 2}}\n")
	f.Add("version: 1\naccept:\n  - {benchmark: '*', measure: instructions, up_to: 10%, until: 2027-01-31, reason: known}\n")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := load(text)
		if err != nil {
			return
		}
		p.Mark(&bench.Run{Results: []bench.Result{{Benchmark: "a", Samples: []bench.Sample{{Measure: bench.Latency, Values: []float64{1}}}}}})
		c := &bench.Comparison{Pairs: []bench.Pair{timedPair("a", 0.1), exactPair("b", 100, 107), {Benchmark: "c", Head: exactPair("c", 1, 1).Head}}}
		v := p.Compare(c, Options{History: func(string, string) []float64 { return []float64{1, 2, 3} }})
		v.Overall()
		p.Flagged(c)
		_ = p.Check(Scope{Benchmarks: []Benchmark{{Name: "a"}}})
	})
}

// The built-in limits are those of the table in docs/thresholds.md.
func TestDefaultsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/thresholds.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "|---|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	percent, absolute := regexp.MustCompile(`([0-9.]+)%`), regexp.MustCompile(`([0-9.]+) ns`)
	number := func(pattern *regexp.Regexp, text string) (v float64) {
		if m := pattern.FindStringSubmatch(text); m != nil {
			v, _ = strconv.ParseFloat(m[1], 64)
		}
		return v
	}
	severities := map[string]Severity{"fails": Fail, "warns": Warn}
	documented := map[string]bool{}
	for row := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(row, "| \n"), " | ")
		names := []string{"verified-insns", "verifier-states", "verifier-peak-states", "xlated-bytes", "jited-bytes", "stack-bytes", "map-memory"}
		if cells[0] != "verifier measures and sizes" {
			names = []string{strings.Split(cells[0], "`")[1]}
		}
		for _, name := range names {
			documented[name] = true
			rule := Default().rule(subject{benchmark: "a", measure: name, mode: bench.ModeHost})
			if rule == nil || value(rule.Percent) != number(percent, cells[1]) || value(rule.Absolute) != number(absolute, cells[1]) || rule.Severity != severities[cells[2]] {
				t.Errorf("%s: %+v, documented as %q", name, rule, cells)
			}
		}
	}
	for _, rule := range Default().builtin {
		if !documented[rule.Measure] {
			t.Errorf("%s has a limit that the table lacks", rule.Measure)
		}
	}
}
