package compare

import (
	"slices"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/stat"
	"github.com/org/ebpf-bench-action/thresholds"
)

// Measures of a load are one line if all that is said of them but the figures is the same.
func TestGather(t *testing.T) {
	r := &row{}
	accepted := func(m bench.Measure, why string) finding {
		v := &thresholds.Verdict{Measure: m, Outcome: thresholds.Accepted, Why: why, Change: &stat.Change{}}
		return finding{row: r, verdict: v}
	}
	const one, other = "10 → 20 (+10, +100%), up to 10% is allowed, accepted up to 20 until 2027-01-31: see (1)",
		"30 → 90 (+60, +200%), up to 10% is allowed, accepted up to 20 until 2027-01-31: worth it (1)"
	for name, c := range map[string]struct {
		found []finding
		want  int
	}{
		"the same reason":  {[]finding{accepted(bench.VerifiedInsns, one), accepted(bench.XlatedBytes, one)}, 1},
		"another":          {[]finding{accepted(bench.VerifiedInsns, one), accepted(bench.XlatedBytes, other)}, 2},
		"not of a load":    {[]finding{accepted(bench.VerifiedInsns, one), accepted(bench.BPFInsns, one)}, 2},
		"of another row":   {[]finding{accepted(bench.VerifiedInsns, one), {row: &row{}, verdict: accepted(bench.XlatedBytes, one).verdict}}, 2},
		"both, and a last": {[]finding{accepted(bench.VerifiedInsns, one), accepted(bench.XlatedBytes, other), accepted(bench.JitedBytes, one)}, 2},
	} {
		if got := gather(c.found); len(got) != c.want {
			t.Errorf("%s: %d lines, want %d", name, len(got), c.want)
		}
	}
}

// A warning of the base is left out if the head has it with other figures, but not if it is
// about something else.
func TestAppendNew(t *testing.T) {
	for _, c := range []struct {
		head, base string
		new        bool
	}{
		{"map flows held 9 of 10 entries", "map flows held 8 of 10 entries", false},
		{"map flows4 is full", "map flows6 is full", true},
		{"tail calls of p do not happen: index 2 of jumps is empty", "tail calls of p do not happen: index 5 of jumps is empty", true},
		{"a mean, at ./a.c:42, of 1,024 runs", "a mean, at ./b.c:7, of 8,192.5 runs", false},
	} {
		all := appendNew([]string{c.head}, []string{c.base})
		if slices.Contains(all, c.base) != c.new {
			t.Errorf("%q after %q: %q", c.base, c.head, all)
		}
	}
}

// Data explains a change of a program whose instructions are the same, and is of no interest
// if nothing changed.
func TestNotesOfData(t *testing.T) {
	pair := &bench.Pair{Benchmark: "a", Data: []string{"map m: entries 64 → 4,096", "variable n: 1 → 2"}}
	for outcome, want := range map[thresholds.Outcome]int{thresholds.Regression: 1, thresholds.Improvement: 1, thresholds.Pass: 0} {
		v := &thresholds.Verdict{Measure: bench.Latency, Outcome: outcome, Severity: thresholds.Fail}
		if got := notes([]row{{Pair: pair, main: v}}); len(got) != want {
			t.Errorf("%v: %d notes, want %d", outcome, len(got), want)
		}
	}
}
