package thresholds

import "github.com/org/ebpf-bench-action/internal/bench"

// bothWays reports whether a change in either direction counts: because the threshold says
// so, or because it is unknown which direction is worse.
func (t *Threshold) bothWays(m bench.Measure) bool {
	return t.Direction == Both || m.Direction == bench.UnknownDirection
}

// doubtDirection turns a regression into a doubt if it is unknown which direction is
// better: the change may as well be an improvement.
func (t *Threshold) doubtDirection(v *Verdict) {
	if v.Outcome == Regression && v.Measure.Direction == bench.UnknownDirection && t.Direction != Both {
		v.Outcome = Inconclusive
		v.Why += ", but it is not known which way is better: ingest takes --higher and --lower"
	}
}
