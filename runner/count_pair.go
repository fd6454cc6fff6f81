package runner

import (
	"context"
	"slices"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/runner/internal/count"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
)

// mostCounts is how often each side of a pair is counted at most. Where chance alone
// decides, all counts of one side are above all of the other in 2 of 12,870 cases.
const mostCounts = 8

// countPair counts both sides, each alone, in slices of as many runs: what happens once in a
// slice is then the same share of both. If they differ, and that may be chance, it
// counts both again, in turn, until their counts overlap or are too many for chance.
func countPair(ctx context.Context, env *driver.Environment, job PairJob, o *Options) (bench.Pair, error) {
	sides, err := countEach(ctx, env, o, 0, job.Base, job.Head)
	base, head := sides[0], sides[1]
	size := lesser(base.size, head.size)
	if err == nil && base.size > size {
		base, err = countSide(ctx, env, o, size, job.Base)
	}
	if err == nil && head.size > size {
		head, err = countSide(ctx, env, o, size, job.Head)
	}
	p := bench.Pair{
		Benchmark: job.Name(), Base: resultOf(base), Head: resultOf(head),
	}
	count.Compare(&p, base.executed, head.executed)
	if err != nil || base.settled() && head.settled() && pathFollows(p.Base, p.Head) {
		return p, err
	}
	err = countAgain(p.Base, p.Head, func(headFirst bool) (base, head *bench.Result, err error) {
		if headFirst {
			sides, err = countEach(ctx, env, o, size, job.Head, job.Base)
			slices.Reverse(sides)
		} else {
			sides, err = countEach(ctx, env, o, size, job.Base, job.Head)
		}
		return resultOf(sides[0]), resultOf(sides[1]), err
	})
	return p, err
}

// countInsns counts the BPF instructions of both sides as countPair does.
func (p *pair) countInsns(ctx context.Context) {
	like := count.Like{Slice: p.runs}
	p.base.countInsns(ctx, like)
	p.head.countInsns(ctx, like)
	if p.base.runsAlike() && p.head.runsAlike() {
		return
	}
	base, head := &bench.Result{Samples: p.base.insns}, &bench.Result{Samples: p.head.insns}
	again := func(t *track) *bench.Result {
		e, err := t.countOnce(ctx, like)
		if err != nil {
			return &bench.Result{Error: err.Error()}
		}
		return &bench.Result{Samples: e.Samples()}
	}
	_ = countAgain(base, head, func(headFirst bool) (base, head *bench.Result, err error) {
		if headFirst {
			head, base = again(p.head), again(p.base)
		} else {
			base, head = again(p.base), again(p.head)
		}
		return base, head, nil
	})
	p.base.insns, p.head.insns = base.Samples, head.Samples
}

// countAgain counts both sides again, so that neither always comes first, until their counts
// overlap or are too many for chance. It gives all counts to the samples of base and head.
func countAgain(base, head *bench.Result, count func(headFirst bool) (base, head *bench.Result, err error)) error {
	bases, heads := []*bench.Result{base}, []*bench.Result{head}
	defer func() {
		together(bases)
		together(heads)
	}()
	for len(bases) < mostCounts && apart(bases, heads) {
		base, head, err := count(len(bases)%2 == 1)
		if err != nil {
			return err
		}
		if base.Error != "" || head.Error != "" {
			break
		}
		bases, heads = append(bases, base), append(heads, head)
	}
	return nil
}

// settled reports whether the track's counts are those of each load: its rounds agree, and
// its runs execute the same.
func (t *track) settled() bool {
	return len(t.result.Rounds.RunCnt) == 1 && len(t.result.Floor.RunCnt) <= 1 && t.runsAlike()
}

// runsAlike reports whether the runs that were counted, if any, execute the same.
func (t *track) runsAlike() bool { return t.executed == nil || len(t.executed.Sample().Values) == 1 }

// pathFollows reports whether the whole path of an event costs more by what the run of the
// program does, or by nothing.
func pathFollows(base, head *bench.Result) bool {
	grown := func(m bench.Measure) (float64, bool) {
		b, h := base.Sample(m.Name), head.Sample(m.Name)
		if b == nil || h == nil {
			return 0, false
		}
		return middleOf(h.Values) - middleOf(b.Values), true
	}
	path, ok := grown(bench.InstructionsPath)
	run, _ := grown(bench.Instructions)
	return !ok || path == 0 || path == run
}

// countedMeasures are the measures that are counted while the program runs.
var countedMeasures = []bench.Measure{
	bench.Instructions, bench.InstructionsRaw, bench.InstructionsFloor, bench.InstructionsPath,
	bench.BPFInsns, bench.BPFInsnsFirst, bench.BPFInsnsAged, bench.BPFInsnsLater,
}

// apart reports whether in some measure all counts of one side are above all of the other.
func apart(bases, heads []*bench.Result) bool {
	for _, m := range countedMeasures {
		b, h := counts(bases, m), counts(heads, m)
		if len(b) > 0 && len(h) > 0 && (slices.Max(b) < slices.Min(h) || slices.Max(h) < slices.Min(b)) {
			return true
		}
	}
	return false
}

// together gives the first result the counts of all, if there are several.
func together(all []*bench.Result) {
	if len(all) == 1 {
		return
	}
	for _, m := range countedMeasures {
		if s := all[0].Sample(m.Name); s != nil {
			s.Values = counts(all, m)
		}
	}
}

// counts returns the counts of a measure, one of each result that has it.
func counts(all []*bench.Result, m bench.Measure) (values []float64) {
	for _, r := range all {
		if s := r.Sample(m.Name); s != nil {
			values = append(values, middleOf(s.Values))
		}
	}
	return values
}

// middleOf returns the mean of a count whose least and most may be beside it.
func middleOf(values []float64) float64 { return values[len(values)/2] }
