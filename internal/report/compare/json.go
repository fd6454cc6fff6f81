package compare

import (
	"bytes"
	"encoding/json"
	"io"
	"math"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/report"
	"github.com/org/ebpf-bench-action/internal/stat"
	"github.com/org/ebpf-bench-action/thresholds"
)

type comparisonJSON struct {
	Version int                `json:"version"`
	Outcome thresholds.Outcome `json:"outcome"`
	Tables  []tableJSON        `json:"tables"`
}

type tableJSON struct {
	Outcome thresholds.Outcome `json:"outcome"`
	// Comparison is the document that bench.DecodeComparison reads.
	Comparison json.RawMessage `json:"comparison"`
	Verdicts   []verdictJSON   `json:"verdicts"`
}

// verdictJSON is a verdict. Figures that are not known are left out.
type verdictJSON struct {
	Benchmark string `json:"benchmark"`
	// Measure and Unit are left out of a verdict on a whole benchmark.
	Measure  string              `json:"measure,omitempty"`
	Unit     string              `json:"unit,omitempty"`
	Outcome  thresholds.Outcome  `json:"outcome"`
	Severity thresholds.Severity `json:"severity"`
	// Allowed says of a pass that the measure did get worse, as far as it may.
	Allowed bool     `json:"allowed,omitempty"`
	Base    *float64 `json:"base,omitempty"`
	Head    *float64 `json:"head,omitempty"`
	Delta   *float64 `json:"delta,omitempty"`
	Ratio   *float64 `json:"ratio,omitempty"`
	// Low and High are the ends of the interval of Ratio.
	Low        *float64 `json:"low,omitempty"`
	High       *float64 `json:"high,omitempty"`
	Confidence *float64 `json:"confidence,omitempty"`
	// DeltaLow and DeltaHigh are the ends of the interval of Delta.
	DeltaLow  *float64 `json:"delta_low,omitempty"`
	DeltaHigh *float64 `json:"delta_high,omitempty"`
	// P is corrected for the number of Tests.
	P          *float64 `json:"p,omitempty"`
	Tests      int      `json:"tests,omitempty"`
	Band       *float64 `json:"band,omitempty"`
	Detectable *float64 `json:"detectable,omitempty"`
	// DetectableBy is the same in the measure's unit.
	DetectableBy *float64 `json:"detectable_by,omitempty"`
	// SecondRatio is what the confirming measurement found.
	SecondRatio *float64 `json:"second_ratio,omitempty"`
	Paired      bool     `json:"paired,omitempty"`
	Loads       int      `json:"loads,omitempty"`
	Rounds      int      `json:"rounds,omitempty"`
	Why         string   `json:"why"`
	Warnings    []string `json:"warnings,omitempty"`
}

// JSON writes everything: what was measured, raw values included, and
// the verdicts with their evidence.
func JSON(w io.Writer, m *Model) error {
	doc := comparisonJSON{Version: bench.JudgedVersion, Outcome: m.Overall(), Tables: []tableJSON{}}
	for _, t := range m.Tables {
		var measured bytes.Buffer
		if err := bench.EncodeComparison(&measured, t.Comparison); err != nil {
			return err
		}
		out := tableJSON{Outcome: t.Verdicts.Overall(), Comparison: measured.Bytes(), Verdicts: []verdictJSON{}}
		for i := range t.Verdicts.All {
			out.Verdicts = append(out.Verdicts, verdictOf(&t.Verdicts.All[i]))
		}
		doc.Tables = append(doc.Tables, out)
	}
	return json.NewEncoder(w).Encode(&doc)
}

func verdictOf(v *thresholds.Verdict) verdictJSON {
	out := verdictJSON{
		Benchmark: v.Benchmark, Measure: v.Measure.Name, Unit: v.Measure.Unit,
		Outcome: v.Outcome, Severity: v.Severity, Allowed: v.Allowed, Tests: v.Tests, Why: v.Why,
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

// ratio is nil where the base is zero and the head is not.
func ratio(c *stat.Change) *float64 {
	if c.Base == 0 && c.Ratio == 0 {
		return nil
	}
	return finite(c.Ratio)
}

// finite is nil of what JSON cannot say.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	v = report.Unsigned(v)
	return &v
}
