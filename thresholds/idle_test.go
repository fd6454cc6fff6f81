package thresholds

import (
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
)

func TestNothingForARun(t *testing.T) {
	for rule, want := range map[string]bool{
		"{measure: latency, percent: 5}":                                     true,
		"{measure: latency, percent: 5}, {measure: map-memory, absolute: 5}": true,
		"{measure: latency, max: 5, severity: ignore}":                       true,
		"{measure: latency, percent: 5, max: 100}":                           false,
		"{measure: throughput, min: 5, severity: warn}":                      false,
		"{measure: latency, percent: 5}, {measure: latency, history: {}}":    false,
	} {
		said := policy(t, "thresholds: ["+rule+"]\n").NothingForARun(nil)
		if (said != "") != want || want && !strings.HasPrefix(said, "nothing in t.yml judges a run by itself: ") {
			t.Errorf("%s: %q", rule, said)
		}
	}
}

// A file whose limits are all for another mode judges nothing, and says so.
func TestNothingForARunInAMode(t *testing.T) {
	for _, c := range []ruleInMode{
		{"{measure: latency, max: 5}", bench.ModeExact, "nothing in t.yml judges a run in exact mode: "},
		{"{measure: instructions, max: 5}", bench.ModeHost, "nothing in t.yml judges a run in host mode: "},
		{"{measure: latency, max: 5}, {measure: instructions, max: 5}", bench.ModeExact, ""},
		{"{measure: latency, max: 5}, {measure: map-memory, max: 5}", bench.ModeExact, ""},
		{"{measure: latency, max: 5}", "", ""},
	} {
		if got := c.policy(t).NothingForARun(c.modes()); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s in %q mode: %q, want %q", c.rule, c.mode, got, c.want)
		}
	}
}

// A threshold on time alone does not apply in exact mode, nor one on instructions where
// time is measured. A file for both modes is not a mistake.
func TestOtherMode(t *testing.T) {
	for _, c := range []ruleInMode{
		{"{measure: latency, percent: 5}", bench.ModeExact, "t.yml bounds the growth of latency, which exact mode does not measure: it judges the cost of a run by its instructions, with the built-in threshold: no increase is allowed"},
		{"{measure: throughput, percent: 5}, {measure: latency, percent: 5}, {measure: latency, percent: 6}", bench.ModeExact, "t.yml bounds the growth of latency and throughput, which exact mode does not"},
		{"{measure: instructions, absolute: 5}, {measure: map-memory, percent: 1}", bench.ModeHost, "t.yml bounds the growth of instructions, which host mode does not measure: it judges the cost of a run by its latency, with the built-in threshold: up to 2% or 0.50 ns is allowed"},
		{"{measure: instructions, percent: 5}", bench.ModeKVM, "t.yml bounds the growth of instructions, which kvm mode"},
		{"{measure: latency, percent: 5}", bench.ModeHost, ""},
		{"{measure: latency, percent: 5}, {measure: instructions, absolute: 4}", bench.ModeExact, ""},
		{"{measure: map-memory, percent: 5}", bench.ModeExact, ""},
		{"{measure: latency, severity: ignore}", bench.ModeExact, ""},
		{"{measure: latency, percent: 5}", "", ""},
	} {
		if got := c.policy(t).OtherMode(c.modes()); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s in %q mode: %q, want %q", c.rule, c.mode, got, c.want)
		}
	}
}

// ruleInMode is a threshold and the expected message in a mode, or in any mode if that is
// empty.
type ruleInMode struct {
	rule string
	mode bench.Mode
	want string
}

func (c *ruleInMode) policy(t *testing.T) *Policy {
	t.Helper()
	return policy(t, "thresholds: ["+c.rule+"]\n")
}

func (c *ruleInMode) modes() []bench.Mode {
	if c.mode == "" {
		return nil
	}
	return []bench.Mode{c.mode}
}
