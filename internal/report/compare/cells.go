package compare

import (
	"math"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/report"
	"github.com/org/ebpf-bench-action/internal/report/grid"
	"github.com/org/ebpf-bench-action/internal/stat"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/thresholds"
)

// Texts of the cells of a comparison, whatever the format.

// figures returns base and head of a verdict. If nothing could be compared,
// they are the measurements of either side.
func (r *row) figures(v *thresholds.Verdict) (base, head string) {
	if v != nil && v.Change != nil {
		return report.Number(v.Change.Base, v.Change.Measure), report.Number(v.Change.Head, v.Change.Measure)
	}
	measures := costs
	if v != nil && v.Measure.Name != "" {
		measures = []bench.Measure{v.Measure}
	}
	return center(r.Base, measures), center(r.Head, measures)
}

// center returns the figure of the first of the measures that a side has.
func center(r *bench.Result, measures []bench.Measure) string {
	for _, m := range measures {
		if r == nil {
			break
		}
		if s := r.Sample(m.Name); s != nil && len(s.Values) > 0 {
			return report.Center(stat.Summarize(*s), s.Measure)
		}
	}
	return grid.None
}

// delta returns how much more the head has: "~" if that is not significant, "="
// if both are the same number.
func delta(v *thresholds.Verdict) string {
	switch {
	case v == nil || v.Change == nil:
		return grid.None
	case v.Change.Measure.Exact:
		return exactDelta(v.Change)
	case !significant(v):
		return "~"
	}
	if v.Change.NearZero() {
		return thresholds.By(v.Change.Delta, v.Change.Measure)
	}
	return unit.Change(v.Change.Ratio - 1)
}

func exactDelta(c *stat.Change) string {
	if c.Delta == 0 {
		return "="
	}
	if math.IsInf(c.Delta, 0) {
		return grid.None
	}
	text := unit.Mean(c.Delta)
	if c.Delta > 0 {
		text = "+" + text
	}
	if c.Base == 0 || math.IsInf(c.Ratio*100, 0) {
		return text
	}
	return text + " (" + unit.Change(c.Ratio-1) + ")"
}

// significant reports whether there is a change at all, allowed or not.
func significant(v *thresholds.Verdict) bool {
	c := v.Change
	if c == nil {
		return false
	}
	if c.Measure.Exact {
		return c.Delta != 0
	}
	return v.P <= 1-c.Confidence
}

// interval returns text such as "+4.9..+5.6%", or "-0.1..+0.2 ns" for costs
// near zero.
func interval(v *thresholds.Verdict) string {
	if v == nil || v.Change == nil || v.Change.Measure.Exact || !v.Change.Bounded() {
		return grid.None
	}
	if v.Change.NearZero() {
		return thresholds.IntervalBy(v.Change)
	}
	return strings.TrimSuffix(unit.Change(v.Change.Low-1), "%") + ".." + unit.Change(v.Change.High-1)
}

// wouldCatch returns the smallest slowdown that would have been caught.
func wouldCatch(v *thresholds.Verdict) string {
	if v == nil || v.Detectable <= 0 {
		return grid.None
	}
	if v.Change != nil && v.Change.NearZero() {
		return unit.Format(v.DetectableBy, v.Change.Measure.Unit)
	}
	return unit.Percent(v.Detectable)
}

// verdictWord returns the text of the verdict column: the result for the cost
// of a run, or for another measure that is worse, such as "bpf-insns:
// regression".
func (r *row) verdictWord() string {
	switch s := r.gating(); {
	case s != r.result():
		return r.othersOf(s) + ": " + s.String()
	case s != unjudged:
		return s.String()
	}
	if r.driver() == "verify" {
		return "loaded"
	}
	return unjudged.String()
}

// verdictCell returns the verdict in the color of its meaning.
func (r *row) verdictCell() grid.Cell { return r.gating().paint(grid.Word(r.verdictWord())) }

// othersOf names the other measure of a standing, or counts them.
func (r *row) othersOf(s standing) string {
	n, name := 0, ""
	for _, v := range r.others {
		if standingOf(v) == s {
			n, name = n+1, v.Measure.Name
		}
	}
	if n > 1 {
		return unit.Plural(n, "measure")
	}
	return name
}

// intervalHeader names the interval by its confidence if all have the same.
func intervalHeader(rows []row) string {
	var confidence float64
	for _, r := range rows {
		if r.main == nil || interval(r.main) == grid.None {
			continue
		}
		c := r.main.Change.Confidence
		if confidence != 0 && c != confidence {
			return "interval"
		}
		confidence = c
	}
	if confidence == 0 {
		return "interval"
	}
	return unit.Level(confidence) + " interval"
}

// columns says which optional columns at least one row needs.
type columns struct{ interval, wouldCatch bool }

func columnsOf(rows []row) columns {
	var c columns
	for _, r := range rows {
		c.interval = c.interval || interval(r.main) != grid.None
		c.wouldCatch = c.wouldCatch || wouldCatch(r.main) != grid.None
	}
	return c
}
