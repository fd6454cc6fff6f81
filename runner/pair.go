package runner

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/runner/internal/count"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
	"github.com/org/ebpf-bench-action/runner/internal/load"
)

// pair is a benchmark while its two sides are measured: three programs in the
// same rounds, and one floor for all three.
type pair struct {
	base, head, again *track
	floor             *driven

	options *Options
	rng     *rand.Rand
	// size is the size of a slice, in the driver's unit, runs the number of its
	// runs, rounds the number of rounds of a load.
	size, runs, rounds int
}

func newPair(job PairJob, o *Options, rng *rand.Rand) *pair {
	floor := newFloor(floorOf(job.Head), job.Head)
	return &pair{
		base: newTrack(job.Base, floor), head: newTrack(job.Head, floor),
		again: newTrack(job.Base, floor), floor: floor,
		options: o, rng: rng,
	}
}

// sides returns the tracks that are loaded afresh for each load. They share the floor, so
// its place in memory cancels out of what they differ by: it stays loaded for longer.
func (p *pair) sides() []*track { return []*track{p.base, p.head, p.again} }

const (
	// pilotLoads is how many loads it takes to learn how long a load takes and
	// how far two loads of the same object differ.
	pilotLoads = 6
	// minPairLoads is the least that is worth a test: among fewer loads, chance
	// alone often enough makes all differ in the same direction.
	minPairLoads = 12
	maxPairLoads = 1000
	// floorLoads is how often the floor is loaded, so that an unlucky place in memory is
	// not taken from every value of the sides.
	floorLoads = 16
	// pairSlice is the longest that a slice takes. Short rounds cancel out more
	// of the disturbances.
	pairSlice = 250 * time.Microsecond
	// pairWindow is the longest that a perf event samples in a slice, if it has a few
	// samples in that time: loads differ by more than samples do.
	pairWindow = 500 * time.Microsecond
)

// measure measures the pair within its budget.
func (p *pair) measure(ctx context.Context, env *driver.Environment, budget time.Duration) bench.Pair {
	began := time.Now()
	p.openFloor(ctx, env)
	defer func() {
		p.floor.close()
		_ = env.LeaveHooks()
	}()
	if why := whyNotHere(p.head.job, p.floor); why != nil {
		return loadOnly(ctx, env, PairJob{Base: p.base.job.ByVerify(why), Head: p.head.job.ByVerify(why)})
	}
	p.fit(ctx, env)
	loads := p.pilot(ctx, env, func() time.Duration { return budget - time.Since(began) })
	p.options.Progress.Start(loads, budget)
	for load := range loads {
		if ctx.Err() != nil || p.failed() || p.dependsOn() != "" {
			break
		}
		if load > 0 && load%max(loads/floorLoads, 1) == 0 {
			p.floor.close()
			p.openFloor(ctx, env)
		}
		p.load(ctx, env, load, p.sides(), p.rounds)
		p.options.Progress.Round()
	}
	if on := p.dependsOn(); on != "" {
		p.floor.close()
		job := PairJob{Base: p.base.job.WithFresh(on), Head: p.head.job.WithFresh(on)}
		return newPair(job, p.options, p.rng).measure(ctx, env, budget)
	}
	result := bench.Pair{
		Benchmark: p.head.job.Name,
		Base:      resultOf(p.base), Head: resultOf(p.head), Again: resultOf(p.again),
	}
	count.Compare(&result, p.base.executed, p.head.executed)
	return result
}

// openFloor loads the floor. Its first runs are slow.
func (p *pair) openFloor(ctx context.Context, env *driver.Environment) {
	p.floor.open(ctx, env)
	p.resize(p.floor)
	p.floor.attached(ctx, func() { p.floor.warmUp(ctx) })
}

// fit sets the size of the slices: the same for all, short, and with few enough runs to
// fill no map that is emptied between them.
func (p *pair) fit(ctx context.Context, env *driver.Environment) {
	sides := []*track{p.base, p.head}
	for _, t := range sides {
		t.open(ctx, env)
		t.attached(ctx, func() {
			t.settle(ctx)
			t.shortenSlow(ctx)
			// No warm-up: runs may cost something else after very many others.
			t.slice(ctx)
			least := t.leastWall(ctx)
			if r, ok := t.resizable(); ok && least > pairSlice {
				r.Resize(func(now int) int { return max(int(time.Duration(now)*pairSlice/least), 1) })
				t.slice(ctx)
			} else {
				t.lengthen(ctx, pairSlice)
			}
			t.refuseOwnRuns(ctx)
			t.nameOthers(ctx)
			t.makeRoom(ctx)
		})
		if r, ok := t.resizable(); ok {
			r.Resize(func(now int) int { p.size = lesser(p.size, now); return now })
		}
		if t.live() {
			p.runs = lesser(p.runs, int(t.last.RunCnt))
		}
	}
	p.countInsns(ctx)
	for _, t := range sides {
		t.close()
	}
	p.resize(p.floor)
}

func (p *pair) resize(d *driven) {
	if r, ok := d.resizable(); ok && p.size > 0 {
		r.Resize(func(int) int { return p.size })
	}
}

// lesser returns the lesser of two numbers of which 0 means none.
func lesser(a, b int) int {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// pilot measures the base against itself to plan the number of loads and of
// rounds per load. It leaves the head alone, so that nothing that the test will
// look at influences when the test stops.
func (p *pair) pilot(ctx context.Context, env *driver.Environment, left func() time.Duration) (loads int) {
	base, again := newTrack(p.base.job, p.floor), newTrack(p.base.job, p.floor)
	var loading, round time.Duration
	for load := range pilotLoads {
		if ctx.Err() != nil || p.failed() || p.dependsOn() != "" {
			return 0
		}
		const few = 4
		loading, round = p.load(ctx, env, load, []*track{base, again}, few)
		p.base.dependsOn = cmp.Or(base.dependsOn, again.dependsOn)
	}
	// A third side will take its share of both.
	loading, round = loading*3/2, max(round*4/3, time.Microsecond)
	// Spend about as much time on measuring as on loading: fewer rounds would
	// leave much of the time unused, more would only tell more about one load.
	p.rounds = int(loading / round)
	if p.sharesHook() {
		// There, loads differ about half as much as rounds do. The most is learned
		// in a given time with the root of the ratio of the costs, times that of the
		// deviations: Cochran, Sampling Techniques, section 10.6.
		p.rounds = int(2 * math.Sqrt(float64(loading)/float64(round)))
	}
	p.rounds = min(max(p.rounds, 6), 64)
	loads = int(left() / (loading + time.Duration(p.rounds)*round))
	if p.options.PlanLoads != nil {
		loads = min(loads, p.options.PlanLoads(&bench.Pair{
			Benchmark: p.base.job.Name, Base: resultOf(base), Again: resultOf(again),
		}))
	}
	return min(max(loads, minPairLoads), maxPairLoads)
}

// load loads the sides in random order, because the kernel's XDP dispatcher
// searches them in that order, and measures some rounds: where hooks are shared,
// all in one turn of each side. It returns how long loading, with attaching, and
// one round took.
func (p *pair) load(ctx context.Context, env *driver.Environment, nth int, sides []*track, rounds int) (loading, round time.Duration) {
	defer func() {
		for _, t := range sides {
			t.close()
		}
		load.Settle(ctx)
	}()
	began := time.Now()
	for _, i := range p.rng.Perm(len(sides)) {
		sides[i].open(ctx, env)
		p.resize(&sides[i].driven)
		if !p.sharesHook() { // where it is, it is not attached yet
			sides[i].settle(ctx)
			// The first runs after a load are slow.
			sides[i].slice(ctx)
		}
	}
	each := 1
	if p.sharesHook() {
		each = rounds
	}
	var parts []part
	for _, t := range sides {
		parts = append(parts, part{t, each})
	}
	var took time.Duration
	for n := 0; n < rounds && ctx.Err() == nil; n += each {
		took += measureRound(ctx, nth, parts, p.rng)
	}
	profile(ctx, env, sides, 1)
	for _, t := range sides {
		t.strays(ctx)
	}
	return time.Since(began) - took, took / time.Duration(rounds)
}

// sharesHook reports whether the program is driven on a hook that others share.
func (p *pair) sharesHook() bool { return p.floor.live() && p.floor.subject.SharesHook() }

// dependsOn returns on what of their input the runs of a side depend although they share
// calls, or "".
func (p *pair) dependsOn() string {
	return cmp.Or(p.base.dependsOn, p.head.dependsOn, p.again.dependsOn)
}

func (p *pair) failed() bool {
	return p.floor.err != nil || p.base.err != nil || p.head.err != nil || p.again.err != nil
}

func resultOf(t *track) *bench.Result {
	r := t.complete()
	return &r
}
