// Package stat turns samples into summaries, and two sides into a change with
// its evidence. It judges nothing and knows no kernel and no file. What a
// reader must know about a number accompanies it as a warning.
package stat

import (
	"fmt"
	"slices"

	"github.com/aclements/go-moremath/stats"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// MinValues is the number of values below which a summary carries a warning:
// quartiles of fewer are mostly luck.
const MinValues = 10

// Summary describes a sample. All figures are in the unit of its measure.
type Summary struct {
	N int
	// Center is the median: rounds that something else disturbed are outliers
	// to one side, and a mean would report them.
	Center float64
	// Low and High are the quartiles: half of the values lie between them.
	Low, High float64
	Warnings  []string
}

// Spread returns half of the interquartile range.
func (s Summary) Spread() float64 { return (s.High - s.Low) / 2 }

// Summarize describes a sample. An empty sample has N 0 and no figures. An
// exact measure is its own summary as long as its values agree.
func Summarize(sample bench.Sample) Summary {
	s := Summary{N: len(sample.Values)}
	if s.N == 0 {
		return s
	}
	sorted := stats.Sample{Xs: slices.Sorted(slices.Values(sample.Values)), Sorted: true}
	s.Center, s.Low, s.High = sorted.Quantile(0.5), sorted.Quantile(0.25), sorted.Quantile(0.75)
	if sample.Measure.Exact {
		if first, last := sorted.Xs[0], sorted.Xs[s.N-1]; first != last {
			s.Warnings = append(s.Warnings, fmt.Sprintf("counted several times it was not always the same, but %s to %s: chance has a say in what a run costs", unit.Mean(first), unit.Mean(last)))
		}
	} else if s.N < MinValues {
		s.Warnings = append(s.Warnings, fmt.Sprintf("only %s: at least %d are needed for a spread", counted(s.N, "value"), MinValues))
	}
	if w := s.belowFloor(sample.Measure); w != "" {
		s.Warnings = append(s.Warnings, w)
	}
	return s
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// belowFloor returns the warning that most rounds had a cost below that of the
// empty program, which is not by chance, or "" otherwise.
func (s Summary) belowFloor(m bench.Measure) string {
	switch {
	case s.High >= 0:
	case m.Name == bench.Latency.Name:
		return "net is below 0: the program cannot be distinguished from the empty one, whose runs with the same driver in the same rounds took longer; bpf-insns and machine instructions (--kernel) tell programs this small"
	case m.Name == bench.Instructions.Name:
		return "net is below 0: the program executes less than the empty one does by the same driver; compare it by raw or bpf-insns"
	}
	return ""
}
