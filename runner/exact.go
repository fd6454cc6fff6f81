package runner

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/runner/internal/count"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
	"github.com/org/ebpf-bench-action/runner/internal/load"
	"github.com/org/ebpf-bench-action/runner/internal/subject"
)

// In exact mode the machine's clock advances by one nanosecond per instruction,
// so every time that the kernel measures is a count. What disturbs a count is
// the timer tick, which adds thousands of instructions to its round. Rounds are
// therefore short, and the smallest of a few is undisturbed; more of them would
// add nothing.
const (
	exactRounds = 8
	// exactSlice bounds the runs of a slice, in instructions. The tick comes
	// every 4 ms, which is 4 million of them.
	exactSlice = 100_000
	// exactTime is the longest that a slice of a load takes, including
	// everything that the load does besides the runs.
	exactTime = 20 * time.Millisecond
	// exactRuns is the largest number of runs of a slice.
	exactRuns     = 64
	sampledRounds = 4 * exactRounds
)

// count measures one track after the other, in exact mode. Nothing has to
// cancel out, and anything else that is loaded would be counted: to call an XDP
// program, the kernel searches all that are attached. This way, a benchmark's
// counts do not depend on the rest of its suite.
func (m *measurement) count(ctx context.Context, env *driver.Environment, g *group, nth int) error {
	m.options.Progress.Start((len(g.floors)+len(g.tracks))*m.options.Rounds, 0)
	m.out.Loads = nth + 1
	floors := map[*driven]bench.Counters{}
	for _, f := range g.floors {
		if ctx.Err() != nil {
			return nil
		}
		f.open(ctx, env)
		var err error
		f.attached(ctx, func() {
			var rounds []subject.Slice
			rounds, err = m.countRuns(ctx, f)
			floors[f] = kept(nth, rounds)
		})
		f.close()
		leaveHooks(ctx, env)
		if err != nil {
			return err
		}
	}
	for _, t := range g.tracks {
		if ctx.Err() != nil {
			return nil
		}
		t.open(ctx, env)
		var err error
		t.attached(ctx, func() {
			if t.job.Verify != nil {
				return
			}
			var rounds []subject.Slice
			rounds, err = m.countRuns(ctx, &t.driven)
			t.keep(nth, rounds, floors[t.floor])
			if err == nil {
				t.countPath(ctx)
			}
		})
		t.countInsns(ctx, count.Like{Slice: int(t.last.RunCnt), Exact: true})
		t.close()
		leaveHooks(ctx, env)
		if err != nil {
			return err
		}
	}
	return nil
}

// leaveHooks leaves nothing loaded that would be counted with the next program.
func leaveHooks(ctx context.Context, env *driver.Environment) {
	_ = env.LeaveHooks()
	load.Settle(ctx)
}

// countRuns counts what the kernel charges to the program, in rounds of one slice each.
func (m *measurement) countRuns(ctx context.Context, d *driven) (rounds []subject.Slice, err error) {
	stats, err := driver.EnableStats()
	if err != nil {
		return nil, err
	}
	defer stats.Close()
	d.settle(ctx)
	d.shorten(ctx, lesser(exactRuns, m.size))
	// Time warms up nothing here; only the first slice differs from the others.
	d.slice(ctx)
	d.refuseOwnRuns(ctx)
	d.makeRoom(ctx)
	if r, ok := d.resizable(); ok {
		r.Resize(func(now int) int { d.size = now; return now })
	}
	arms := leavesWork(d.job)
	for range m.roundsOf(d.job) {
		if ctx.Err() != nil {
			break
		}
		if arms {
			awaitTick()
		}
		d.slice(ctx)
		if d.err == nil && ctx.Err() == nil {
			rounds = append(rounds, d.last)
		}
		m.options.Progress.Round()
	}
	return rounds, nil
}

// awaitTick returns right after a timer tick. What it costs to arm a timer depends on
// whether that is due before the next tick, as it then programs the CPU's own timer. It is
// the same in all rounds, and on both sides of a comparison, if all begin alike.
func awaitTick() {
	var began, now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC_COARSE, &began) // which only a tick moves on
	for now = began; now == began; {
		if unix.ClockGettime(unix.CLOCK_MONOTONIC_COARSE, &now) != nil {
			return
		}
	}
}

func (m *measurement) roundsOf(j *Job) int {
	if j.Kind().Sampled {
		return m.options.Rounds * sampledRounds / exactRounds
	}
	return m.options.Rounds
}

// keep makes rounds, and those of the floor, the result.
func (t *track) keep(load int, rounds []subject.Slice, floor bench.Counters) {
	for _, s := range rounds {
		s.Driven.AddTo(&t.result, s.RunCnt)
	}
	t.result.Rounds, t.result.Floor = kept(load, rounds), floor
	t.fillOnce() // what follows is not measured
}

// kept returns the counts of the undisturbed round, if there is one. The others then only
// show where the tick fell, which depends on everything that the machine did before.
func kept(load int, rounds []subject.Slice) (r bench.Counters) {
	var all []driver.Counters
	for _, s := range rounds {
		all = append(all, s.Counters)
		r.RecursionMisses += s.RecursionMisses
	}
	if c, ok := undisturbed(all); ok {
		all = []driver.Counters{c}
	}
	for _, c := range all {
		r.Load, r.RunTimeNS, r.RunCnt = append(r.Load, load), append(r.RunTimeNS, c.RunTimeNS), append(r.RunCnt, c.RunCnt)
	}
	return r
}

// undisturbed returns the cheapest round of those that several agree with, among those with
// the usual number of runs: a perf event's window may close late, and a round with more
// runs has a lower mean if the first run costs more than the others. It reports whether
// there is one: where chance has a say in what runs cost, no rounds agree.
func undisturbed(rounds []driver.Counters) (c driver.Counters, ok bool) {
	rounds = slices.DeleteFunc(slices.Clone(rounds), func(c driver.Counters) bool { return c.RunCnt == 0 })
	often := map[uint64]int{}
	for _, c := range rounds {
		often[c.RunCnt]++
	}
	if len(often) == 0 {
		return c, false
	}
	usual := slices.MinFunc(slices.Sorted(maps.Keys(often)), func(a, b uint64) int { return -cmp.Compare(often[a], often[b]) })
	var took []uint64
	for _, c := range rounds {
		if c.RunCnt == usual {
			took = append(took, c.RunTimeNS)
		}
	}
	least, ok := leastRepeated(took, min(enoughAlike, len(rounds)))
	return driver.Counters{RunTimeNS: least, RunCnt: usual}, ok
}

// shorten makes the slices no larger than size, and short enough to miss the tick, which
// counts only if it interrupts the program. Halving reaches the same number of runs
// even after a slice that was interrupted.
func (d *driven) shorten(ctx context.Context, size int) {
	r, ok := d.resizable()
	if !ok {
		return
	}
	r.Resize(func(now int) int { return min(now, size) })
	if !d.job.Kind().Busy || !d.quicken(ctx, r) {
		d.slice(ctx)
	}
	for before := uint64(math.MaxUint64); d.live() && d.last.RunTimeNS > exactSlice && d.last.RunCnt < before; {
		before = d.last.RunCnt
		r.Resize(func(now int) int { return now / 2 })
		d.slice(ctx)
	}
}

// quicken shortens the slices of a load that does much besides the runs, and
// reports whether the program still ran in the latest slice or failed.
func (d *driven) quicken(ctx context.Context, r driver.Resizer) bool {
	var all int
	r.Resize(func(now int) int { all = now; return 1 })
	began := time.Now()
	d.slice(ctx)
	took := time.Since(began)
	r.Resize(func(int) int { return min(all, int(exactTime/max(took, 1))) })
	if d.slice(ctx); !d.live() || d.last.RunCnt > 0 {
		return true
	}
	r.Resize(func(int) int { return all })
	return false
}

// exactSamples returns the counts per run of the program and of its floor.
func exactSamples(r *bench.Result, packets int) []bench.Sample {
	raw := countedOf(&r.Rounds)
	if raw.RunCnt == 0 {
		return nil
	}
	if packets > 0 && raw.RunTimeNS*uint64(packets)%raw.RunCnt != 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("the runs of a packet differ: what they cost depends on what maps hold, or on chance; the figure is the mean of %s runs", unit.Exact(float64(raw.RunCnt))))
	}
	var samples []bench.Sample
	add := func(m bench.Measure, least, mean, most float64) {
		s := bench.Sample{Measure: m, Values: []float64{unit.Round(mean)}}
		if least < most {
			s.Values = []float64{unit.Round(least), unit.Round(mean), unit.Round(most)}
		}
		samples = append(samples, s)
	}
	floor := countedOf(&r.Floor)
	if floor.RunCnt > 0 {
		add(bench.Instructions, raw.least-floor.most, raw.PerRun()-floor.PerRun(), raw.most-floor.least)
	}
	add(bench.InstructionsRaw, raw.least, raw.PerRun(), raw.most)
	if floor.RunCnt > 0 {
		add(bench.InstructionsFloor, floor.least, floor.PerRun(), floor.most)
	}
	if r.Path != nil {
		cost := r.Path.Cost()
		add(bench.InstructionsPath, cost, cost, cost)
	}
	return samples
}

// counted is what the runs of some rounds cost together, and, as means, in the cheapest
// and in the dearest of them.
type counted struct {
	driver.Counters
	least, most float64
}

// countedOf returns the counts of the middle half of rounds, so that few of them met the
// tick. It has no runs if the rounds have none.
func countedOf(c *bench.Counters) (all counted) {
	var rounds []driver.Counters
	for i, n := range c.RunCnt {
		if n > 0 {
			rounds = append(rounds, driver.Counters{RunTimeNS: c.RunTimeNS[i], RunCnt: n})
		}
	}
	slices.SortFunc(rounds, func(a, b driver.Counters) int { return cmp.Compare(a.PerRun(), b.PerRun()) })
	rounds = rounds[len(rounds)/4 : len(rounds)-len(rounds)/4]
	for _, c := range rounds {
		all.RunTimeNS += c.RunTimeNS
		all.RunCnt += c.RunCnt
	}
	if len(rounds) > 0 {
		all.least, all.most = rounds[0].PerRun(), rounds[len(rounds)-1].PerRun()
	}
	return all
}
