package bench

import "io"

// Verdict is a judge's finding on one measure of a benchmark, as documents have it.
// Unknown figures are left out.
type Verdict struct {
	Benchmark string `json:"benchmark"`
	// Measure is the name of the measure, Unit its unit. Both are empty if the verdict is
	// on the benchmark as a whole.
	Measure string `json:"measure,omitempty"`
	Unit    string `json:"unit,omitempty"`
	// Outcome is pass, improvement, regression, over-budget, inconclusive, accepted,
	// added, removed or failed. Severity is fail, warn or ignore.
	Outcome  string `json:"outcome"`
	Severity string `json:"severity"`
	// Allowed says that the measure passed although it got worse, within its limit.
	Allowed bool `json:"allowed,omitempty"`
	// Base and Head are the medians of both sides, and Delta is head less base: in the
	// measure's unit. Ratio is head over base. If both were measured in the same rounds,
	// Ratio is estimated inside the rounds, and Head is what it makes of Base; where Base is
	// too small for percentages, Delta is estimated so, and Head is Base and Delta.
	Base  *float64 `json:"base,omitempty"`
	Head  *float64 `json:"head,omitempty"`
	Delta *float64 `json:"delta,omitempty"`
	Ratio *float64 `json:"ratio,omitempty"`
	// Low and High are the ends of the confidence interval of Ratio, DeltaLow and
	// DeltaHigh those of Delta. Confidence is its level, such as 0.99.
	Low        *float64 `json:"low,omitempty"`
	High       *float64 `json:"high,omitempty"`
	Confidence *float64 `json:"confidence,omitempty"`
	DeltaLow   *float64 `json:"delta_low,omitempty"`
	DeltaHigh  *float64 `json:"delta_high,omitempty"`
	// P is the p-value, corrected for the number of Tests. What was measured twice is
	// judged by the loads of both measurements, in all figures but SecondRatio.
	P     *float64 `json:"p,omitempty"`
	Tests int      `json:"tests,omitempty"`
	// Band is the noise: how far from 1 the ratio of the base to a second load of
	// itself is.
	Band *float64 `json:"band,omitempty"`
	// Detectable is the smallest growth, as a share of the base, that the comparison would
	// have caught 19 times out of 20. DetectableBy is the same in the measure's unit.
	Detectable   *float64 `json:"detectable,omitempty"`
	DetectableBy *float64 `json:"detectable_by,omitempty"`
	// SecondRatio is the Ratio in the confirming measurement.
	SecondRatio *float64 `json:"second_ratio,omitempty"`
	// Paired says that both sides were measured in the same rounds. Loads and Rounds are
	// how many of each the figures are based on.
	Paired bool `json:"paired,omitempty"`
	Loads  int  `json:"loads,omitempty"`
	Rounds int  `json:"rounds,omitempty"`
	// Why is the reason in one sentence.
	Why      string   `json:"why"`
	Warnings []string `json:"warnings,omitempty"`
}

// Judged is a comparison with a judge's findings.
type Judged struct {
	// Outcome is the worst of its verdicts: pass, inconclusive, regression,
	// over-budget, removed or failed.
	Outcome string `json:"outcome,omitempty"`
	*Comparison
	// Verdicts are the verdicts on each measure that has a threshold.
	Verdicts []Verdict `json:"verdicts,omitzero"`
}

// EncodeJudged writes judged comparisons as one JSON document, which Decode reads without
// the verdicts. The outcome is that of all of them.
func EncodeJudged(w io.Writer, outcome string, all ...Judged) error {
	doc := judgedResults{ResultsVersion, outcome, []Judged{}}
	for _, j := range all {
		c := *j.Comparison
		c.Pairs = append([]Pair{}, c.Pairs...)
		doc.Comparisons = append(doc.Comparisons, Judged{j.Outcome, &c, append([]Verdict{}, j.Verdicts...)})
	}
	return writeJSON(w, &doc)
}

// judgedResults is the JSON of judged Results.
type judgedResults struct {
	Version     int      `json:"version"`
	Outcome     string   `json:"outcome"`
	Comparisons []Judged `json:"comparisons"`
}
