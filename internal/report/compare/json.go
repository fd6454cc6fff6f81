package compare

import (
	"io"
	"math"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/report"
	"github.com/org/ebpf-bench-action/internal/stat"
	"github.com/org/ebpf-bench-action/thresholds"
)

// JSON writes everything: the measurements, including raw values, and the
// verdicts with their evidence.
func JSON(w io.Writer, m *Model) error {
	var all []bench.Judged
	for _, t := range m.Tables {
		judged := bench.Judged{Outcome: string(t.Verdicts.Overall()), Comparison: t.Comparison}
		for i := range t.Verdicts.All {
			judged.Verdicts = append(judged.Verdicts, verdictOf(&t.Verdicts.All[i]))
		}
		all = append(all, judged)
	}
	return bench.EncodeJudged(w, string(m.Overall()), all...)
}

func verdictOf(v *thresholds.Verdict) bench.Verdict {
	out := bench.Verdict{
		Benchmark: v.Benchmark, Measure: v.Measure.Name, Unit: v.Measure.Unit,
		Outcome: string(v.Outcome), Severity: string(v.Severity), Allowed: v.Allowed, Tests: v.Tests, Why: v.Why,
	}
	if v.Tests > 0 {
		out.P = finite(v.P)
	}
	if v.Detectable > 0 {
		out.Detectable = finite(v.Detectable)
	}
	if v.DetectableBy > 0 {
		out.DetectableBy = finite(v.DetectableBy)
	}
	if v.Second != nil {
		out.SecondRatio = ratio(v.Second)
	}
	if c := v.Change; c != nil {
		out.Base, out.Head, out.Delta, out.Ratio = finite(c.Base), finite(c.Head), finite(c.Delta), ratio(c)
		out.Paired, out.Loads, out.Rounds, out.Warnings = c.Paired, c.Loads, c.Rounds, c.Warnings
		if c.Bounded() {
			out.Low, out.High, out.Confidence = finite(c.Low), finite(c.High), finite(c.Confidence)
			if c.By != (stat.Span{}) {
				out.DeltaLow, out.DeltaHigh = finite(c.By.Low), finite(c.By.High)
			}
		}
		if c.Banded {
			out.Band = finite(c.Band)
		}
	}
	return out
}

// ratio returns nil if the base is zero and the head is not.
func ratio(c *stat.Change) *float64 {
	if c.Base == 0 && c.Ratio == 0 {
		return nil
	}
	return finite(c.Ratio)
}

// finite returns nil for values that JSON cannot represent.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	v = report.Unsigned(v)
	return &v
}
