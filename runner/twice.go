package runner

import (
	"context"
	"slices"
)

// CompareTwice is Compare, followed by a second measurement of the benchmarks that flagged
// names, such as the method Flagged of a thresholds.Policy. A policy calls a change of
// latency a regression only if both measurements show it, so that one unlucky measurement
// raises no alarm.
func CompareTwice(ctx context.Context, pairs []PairJob, o Options, flagged func(*Comparison) []string) (*Comparison, error) {
	return Comparer(Compare).Twice(ctx, pairs, o, flagged)
}

// Comparer is Compare, or a function that also shows its progress.
type Comparer func(context.Context, []PairJob, Options) (*Comparison, error)

// Twice is CompareTwice with another way to compare. Options.SavePair gets the comparison
// so far, with both measurements.
func (compare Comparer) Twice(ctx context.Context, pairs []PairJob, o Options, flagged func(*Comparison) []string) (*Comparison, error) {
	c, err := compare(ctx, pairs, o)
	if err != nil {
		return nil, err
	}
	names := flagged(c)
	again := slices.DeleteFunc(slices.Clone(pairs), func(p PairJob) bool { return !slices.Contains(names, p.Name()) })
	if len(again) == 0 || ctx.Err() != nil {
		return c, nil
	}
	// The same order could meet the same chance again.
	o.Seed = c.Seed + 1
	if save := o.SavePair; save != nil {
		o.SavePair = func(second *Comparison) error {
			soFar := *c
			soFar.Confirmed = second.Pairs
			return save(&soFar)
		}
	}
	second, err := compare(ctx, again, o)
	if second != nil {
		c.Confirmed = second.Pairs
		c.Elapsed += second.Elapsed
		c.Partial = second.Partial
	}
	return c, err
}
