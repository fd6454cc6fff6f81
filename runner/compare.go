package runner

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/thread"
	"github.com/org/ebpf-bench-action/runner/internal/count"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
	"github.com/org/ebpf-bench-action/runner/internal/load"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
)

// Compare measures pairs of benchmarks, one pair after the other. In each pair
// it loads base and head in the same kernel and drives them in turn in many
// short rounds, so that a disturbance of the machine affects both. It does the
// same with a second load of the base, whose difference from the first is
// noise. In exact mode it counts each alone, because nothing has to cancel out.
// Of a pair that is to be measured once it measures the head.
//
// The comparison does not name its sides. A benchmark that fails carries its
// error in its result. When ctx is cancelled, the comparison ends after the
// current round and is marked as partial.
func Compare(ctx context.Context, pairs []PairJob, o Options) (*bench.Comparison, error) {
	if err := prepare(ctx, &o); err != nil {
		return nil, err
	}
	defer o.Progress.Done()
	out := &bench.Comparison{
		Tool:    o.Tool,
		Testbed: testbed(o.Mode),
		Started: time.Now().UTC().Truncate(time.Second),
		Seed:    o.Seed,
		Pairs:   []bench.Pair{},
	}
	began := time.Now()
	err := thread.Own(func() error { return comparePairs(ctx, out, pairs, &o) })
	if o.Mode != bench.ModeExact { // whose clock tells no time
		out.Elapsed = seconds(time.Since(began))
	}
	out.Partial = ctx.Err() != nil
	if err != nil {
		return nil, err
	}
	return out, nil
}

func comparePairs(ctx context.Context, out *bench.Comparison, pairs []PairJob, o *Options) error {
	env, err := driver.NewEnvironment(o.Mode == bench.ModeExact)
	if err != nil {
		return err
	}
	defer env.Close()
	if o.Mode != bench.ModeExact {
		env.Window = pairWindow
	}
	rng := rand.New(rand.NewPCG(o.Seed, 0))
	for _, job := range plan.FitPairs(pairs, func(jobs []*Job) []*Job {
		return plan.OrAlone(plan.Adapt(jobs), o.Mode, env.CPUs)
	}) {
		if ctx.Err() != nil {
			return nil
		}
		studied := count.Study(ctx, job.Base, job.Head)
		job.Base, job.Head = studied[0], studied[1]
		p, err := comparePair(ctx, env, job, o, rng)
		if err != nil {
			return err
		}
		if ctx.Err() != nil && (o.Mode == bench.ModeExact || lopsided(&p)) {
			return nil
		}
		p.LooksLike, p.Data = job.LooksLike, job.Data()
		out.Pairs = append(out.Pairs, p)
		if o.SavePair != nil {
			if err := o.SavePair(out); err != nil {
				return err
			}
		}
	}
	return nil
}

// lopsided reports whether a pair was cut short after one side had a measure and before the
// other had it: it was not compared, as those that follow it.
func lopsided(p *bench.Pair) bool {
	if p.Base == nil || p.Head == nil || p.Base.Error != "" || p.Head.Error != "" {
		return false
	}
	measures := func(r *bench.Result) (all []string) {
		for _, s := range r.Samples {
			if len(s.Values) > 0 {
				all = append(all, s.Measure.Name)
			}
		}
		return all
	}
	base, head := measures(p.Base), measures(p.Head)
	return len(head) == 0 || !slices.Equal(slices.Sorted(slices.Values(base)), slices.Sorted(slices.Values(head)))
}

func comparePair(ctx context.Context, env *driver.Environment, job PairJob, o *Options, rng *rand.Rand) (bench.Pair, error) {
	switch {
	case job.Once:
		return measureOnce(ctx, env, job, o)
	case job.Base == nil:
		return measureAlone(ctx, env, job.Head, o, rng)
	case job.Head == nil, job.Head.Verify != nil:
		return loadOnly(ctx, env, job), nil
	case o.Mode == bench.ModeExact:
		return countPair(ctx, env, job, o)
	}
	stats, err := driver.EnableStats()
	if err != nil {
		return bench.Pair{}, err
	}
	defer stats.Close()
	budget := o.pairBudget(job.Head)
	p := newPair(job, o, rng).measure(ctx, env, budget)
	p.Budget = seconds(budget)
	return p, nil
}

// pairBudget returns the time for measuring a pair.
func (o *Options) pairBudget(head *Job) time.Duration {
	if o.Budget > 0 {
		return o.Budget
	}
	return 2 * time.Duration(head.Budget)
}

// measureAlone measures a head that is compared with nothing, as in a pair.
func measureAlone(ctx context.Context, env *driver.Environment, head *Job, o *Options, rng *rand.Rand) (bench.Pair, error) {
	switch {
	case head.Verify != nil:
		return loadOnly(ctx, env, PairJob{Head: head}), nil
	case o.Mode == bench.ModeExact:
		side, err := countSide(ctx, env, o, 0, head)
		return bench.Pair{Benchmark: head.Name, Head: resultOf(side)}, err
	}
	stats, err := driver.EnableStats()
	if err != nil {
		return bench.Pair{}, err
	}
	defer stats.Close()
	// Measure it next to itself, since its budget allows it.
	p := newPair(PairJob{Base: head, Head: head}, o, rng).measure(ctx, env, o.pairBudget(head))
	p.Base, p.Again = nil, nil
	return p, nil
}

const (
	// onceLoads is how many loads of an identical pair are measured, and onceShare its
	// share of the budget: the figures are for limits of the cost, and not for a
	// comparison.
	onceLoads, onceShare = 4, 8
)

// measureOnce measures the head of a pair whose sides are identical.
func measureOnce(ctx context.Context, env *driver.Environment, job PairJob, o *Options) (p bench.Pair, err error) {
	switch head := job.Head; {
	case head.Verify != nil:
		p = loadOnly(ctx, env, PairJob{Head: head})
	case o.Mode == bench.ModeExact:
		if p, err = measureAlone(ctx, env, head, o, nil); err != nil {
			return p, err
		}
	default:
		once := *o
		once.Loads, once.Budget = onceLoads, o.pairBudget(head)/onceShare
		m := newMeasurement([]*Job{head}, once)
		if err := m.measure(ctx, env, time.Now()); err != nil {
			return p, err
		}
		p = bench.Pair{Benchmark: head.Name, Head: resultOf(m.tracks()[0])}
	}
	base, of := *p.Head, &newTrack(job.Base, nil).result
	base.Object, base.ObjectSHA256, base.Source = of.Object, of.ObjectSHA256, of.Source
	p.Base, p.Identical = &base, true
	return p, nil
}

// countEach counts the jobs, one after the other, in slices that are no larger than size, in
// the driver's unit, unless it is 0.
func countEach(ctx context.Context, env *driver.Environment, o *Options, size int, jobs ...*Job) ([]*track, error) {
	m := newMeasurement(jobs, *o)
	m.size = size
	err := m.count(ctx, env, m.groups[0], 0)
	return m.tracks(), err
}

func countSide(ctx context.Context, env *driver.Environment, o *Options, size int, job *Job) (*track, error) {
	sides, err := countEach(ctx, env, o, size, job)
	return sides[0], err
}

// loadOnly loads what has nothing to be compared with, for its static figures.
func loadOnly(ctx context.Context, env *driver.Environment, job PairJob) bench.Pair {
	one := func(j *Job) *bench.Result {
		if j == nil {
			return nil
		}
		t := newTrack(j, nil)
		t.open(ctx, env)
		t.close()
		load.Settle(ctx)
		return resultOf(t)
	}
	return bench.Pair{Benchmark: job.Name(), Base: one(job.Base), Head: one(job.Head)}
}
