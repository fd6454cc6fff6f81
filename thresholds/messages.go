package thresholds

import (
	"fmt"
	"math"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/stat"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// otherRuns is by how much the numbers of runs of a message differ if not by the kernel's
// timers, as a share of the larger.
const otherRuns = 0.1

// otherMessages reports whether a message or call makes the program run more or less often
// than on the base: then the mean run is of other work.
func otherMessages(p *bench.Pair) bool {
	b, h := p.Base.Exchanged.RunsEach(), p.Head.Exchanged.RunsEach()
	return b > 0 && h > 0 && math.Abs(b-h) > otherRuns*max(b, h)
}

// ofRuns reports whether a measure is the cost of a run.
func ofRuns(m bench.Measure) bool {
	return bench.ClassOf(m.Name) != bench.Static && m.Name != bench.BPFInsnsLater.Name
}

// messages judges what a message or call costs by all the runs that it makes, if that was
// counted.
func (j *judgement) messages(v *Verdict, p *bench.Pair, base, head *bench.Sample, rule *Threshold) {
	b, h := p.Base.Exchanged.RunsEach(), p.Head.Exchanged.RunsEach()
	runs := fmt.Sprintf("a message or call makes the program run %s times, and %s on the base", unit.Mean(h), unit.Mean(b))
	if isCount(base, head) && head.Measure.Name != bench.BPFInsnsFirst.Name {
		j.exact(v, times(base, b), times(head, h), rule)
		v.Why = "all runs of a message or call: " + v.Why + "; " + runs
		return
	}
	v.Outcome, v.Why = Inconclusive, runs+": their work is not the same"
	if head.Measure.Unit == bench.Latency.Unit {
		whole := func(s *bench.Sample, runs float64) string {
			return figure(stat.Summarize(*s).Center*runs, s.Measure)
		}
		v.Why += fmt.Sprintf("; all of them cost about %s, and %s on the base", whole(head, h), whole(base, b))
	}
}

// times returns a sample of the whole of so many runs.
func times(s *bench.Sample, runs float64) *bench.Sample {
	all := *s
	all.Values = make([]float64, len(s.Values))
	for i, value := range s.Values {
		all.Values[i] = unit.Round(value * runs)
	}
	return &all
}
