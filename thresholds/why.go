package thresholds

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/stat"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// The clauses with the evidence of a verdict. Changes have a sign, and every number its
// unit.

// timedEvidence returns text such as "+5.2% (+0.80 ns), 99% interval +4.9..+5.6%, noise
// ±0.2%, p 0.0001 after Holm over 8", in the measure's unit alone if the base costs too
// little for percentages.
func timedEvidence(t *test) string {
	c := &t.change
	text := grown(c)
	interval := strings.TrimSuffix(unit.Change(c.Low-1), "%") + ".." + unit.Change(c.High-1)
	noise := strings.TrimLeft(unit.Change(c.Band), "+-")
	if c.NearZero() {
		interval, noise = IntervalBy(c), withUnit(number(c.By.Band), c.Measure)
	}
	if c.Bounded() {
		text += fmt.Sprintf(", %s interval %s", unit.Level(c.Confidence), interval)
	}
	if c.Banded {
		text += ", noise ±" + noise
	}
	text += ", p " + probability(t.p)
	if t.tests > 1 {
		text += fmt.Sprintf(" after Holm over %d", t.tests)
	}
	return text
}

// exactEvidence returns text such as "100 → 103 instructions (+3, +3.0%)".
func exactEvidence(c *stat.Change) string {
	if c.Delta == 0 {
		return figure(c.Head, c.Measure) + " on both sides"
	}
	if math.IsInf(c.Delta, 0) {
		return fmt.Sprintf("%s → %s", digits(c.Base), figure(c.Head, c.Measure))
	}
	by := digits(c.Delta)
	if c.Delta > 0 {
		by = "+" + by
	}
	if c.Base != 0 && !math.IsInf(c.Ratio*100, 0) {
		by += ", " + unit.Change(c.Ratio-1)
	}
	return fmt.Sprintf("%s → %s (%s)", digits(c.Base), figure(c.Head, c.Measure), by)
}

// historyEvidence returns text such as "120 ns, t_test over 30 runs allows 98.0..110 ns".
func historyEvidence(value float64, l stat.Limits, test stat.Detector, runs int, m bench.Measure) string {
	switch {
	case test == stat.Static:
		return fmt.Sprintf("%s, the static limit is %s", figure(value, m), figure(l.Upper, m))
	case l.Lower == l.Upper:
		return fmt.Sprintf("%s, %s over %d runs allows just %s", figure(value, m), test, runs, figure(l.Upper, m))
	}
	return fmt.Sprintf("%s, %s over %d runs allows %s..%s", figure(value, m), test, runs, number(l.Lower), withUnit(number(l.Upper), m))
}

// tooFew returns the message that a history is too short.
func tooFew(runs int, h *History) string {
	have := fmt.Sprintf("only %d earlier runs", runs)
	switch runs {
	case 0:
		have = "no earlier run"
	case 1:
		have = "only 1 earlier run"
	}
	return fmt.Sprintf("%s on this testbed: %s needs at least %d", have, h.Test, h.MinRuns)
}

// allowance returns the text for how much an exact measure may grow.
func allowance(t *Threshold, m bench.Measure) string {
	if parts := allowances(t, m); parts != "" {
		return "up to " + parts + " is allowed"
	}
	switch m.Direction {
	case bench.HigherIsBetter:
		return "no decrease is allowed"
	case bench.UnknownDirection:
		return "no change is allowed"
	}
	return "no increase is allowed"
}

// allowances returns text such as "10% or 3 instructions", empty if nothing is allowed.
func allowances(t *Threshold, m bench.Measure) string {
	var parts []string
	if v := value(t.Percent); v > 0 {
		parts = append(parts, trim(v)+"%")
	}
	if v := value(t.Absolute); v > 0 {
		parts = append(parts, figure(v, m))
	}
	return strings.Join(parts, " or ")
}

// limitWords returns the words for the limit of a timed measure.
func (t *test) limitWords(g growth) string {
	l := g.limit(t.rule)
	if t.change.NearZero() {
		return "the threshold of " + withUnit(number(l*max(math.Abs(g.base), stat.MinNet)), t.change.Measure)
	}
	return "the threshold of " + strings.TrimPrefix(unit.Change(l), "+")
}

// amount returns the text for an accepted amount.
func amount(a Amount, m bench.Measure) string {
	if a.Relative {
		return "+" + trim(a.Value) + "%"
	}
	if m.Exact {
		return "+" + figure(a.Value, m)
	}
	return "+" + trim(a.Value) + " " + m.Unit
}

// probability formats a p-value with two digits, and a lower bound below which it does not
// matter.
func probability(p float64) string {
	if p < 0.0001 {
		return "below 0.0001"
	}
	return strconv.FormatFloat(p, 'g', 2, 64)
}

// figure formats a value with its unit, with all digits if it is exact.
func figure(v float64, m bench.Measure) string {
	if m.Exact {
		return unit.Exactly(v, m.Counted())
	}
	return withUnit(number(v), m)
}

func withUnit(text string, m bench.Measure) string { return strings.TrimSpace(text + " " + m.Unit) }

// grown returns text such as "+5.2% (+0.80 ns)".
func grown(c *stat.Change) string {
	by := By(c.Delta, c.Measure)
	if c.NearZero() {
		return by
	}
	return fmt.Sprintf("%s (%s)", unit.Change(c.Ratio-1), by)
}

// By formats a change in the measure's unit or a larger one: +0.80 ns, -2.34 ms.
func By(v float64, m bench.Measure) string {
	by, m := larger(v, m)
	return withUnit(signed(v*by), m)
}

// IntervalBy formats the interval of a change in the measure's unit or a larger one:
// -0.10..+0.80 ns.
func IntervalBy(c *stat.Change) string {
	by, m := larger(max(math.Abs(c.By.Low), math.Abs(c.By.High)), c.Measure)
	return signed(c.By.Low*by) + ".." + withUnit(signed(c.By.High*by), m)
}

// larger returns the factor by which a value is to be multiplied for the unit of a time in
// which it has few digits, and the measure with that unit.
func larger(v float64, m bench.Measure) (by float64, in bench.Measure) {
	by = 1
	for _, unit := range []struct{ of, larger string }{{"ns", "µs"}, {"µs", "ms"}, {"ms", "s"}} {
		if m.Unit == unit.of && math.Abs(v)*by >= 999.5 {
			by, m.Unit = by/1000, unit.larger
		}
	}
	return by, m
}

func signed(v float64) string {
	text := number(v)
	switch {
	case strings.Trim(text, "-0.") == "":
		return strings.TrimPrefix(text, "-")
	case v > 0:
		return "+" + text
	}
	return text
}

// absurd is the value from which a number has more digits than anybody reads.
const absurd = 1e9

// number formats three significant digits, or more if they are left of the point.
func number(v float64) string {
	decimals := 2
	switch a := math.Abs(v); {
	case a >= absurd:
		return strconv.FormatFloat(v, 'e', 2, 64)
	case a >= 99.95:
		decimals = 0
	case a >= 9.995:
		decimals = 1
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// digits formats an exact number as tables print it.
func digits(v float64) string { return unit.Mean(v) }

// trim formats all digits that a number has, and no more.
func trim(v float64) string {
	if math.Abs(v) >= absurd {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return strconv.FormatFloat(unit.Tidy(v), 'f', -1, 64)
}
