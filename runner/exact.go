package runner

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/runner/internal/count"
	"github.com/org/ebpf-bench-action/runner/internal/drive"
	"github.com/org/ebpf-bench-action/runner/internal/load"
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
func (m *measurement) count(ctx context.Context, env *drive.Environment, g *group, nth int) error {
	everything := g.all()
	m.options.Progress.Start(len(everything)*m.options.Rounds, 0)
	m.out.Loads = nth + 1
	for _, t := range everything {
		if ctx.Err() != nil {
			return nil
		}
		t.open(ctx, env)
		var err error
		t.attached(ctx, func() {
			if err = m.countRuns(ctx, t, nth); err == nil && t.floor != nil {
				t.countPath(ctx)
			}
		})
		if err != nil {
			return err
		}
		if t.floor != nil {
			t.countInsns(ctx, count.Like{Slice: int(t.last.RunCnt), Exact: true})
		}
		t.close()
		_ = env.LeaveHooks()
		load.Settle(ctx)
	}
	return nil
}

// countRuns counts what the kernel charges to the track's program.
func (m *measurement) countRuns(ctx context.Context, t *track, load int) error {
	if t.job.Verify != nil {
		return nil
	}
	stats, err := drive.EnableStats()
	if err != nil {
		return err
	}
	defer stats.Close()
	t.settle(ctx)
	t.shorten(ctx)
	// Time warms up nothing here; only the first slice differs from the others.
	t.slice(ctx)
	t.refuseOwnRuns(ctx)
	t.makeRoom(ctx)
	var rounds []drive.Counters
	for range m.roundsOf(t.job) {
		if ctx.Err() != nil {
			break
		}
		t.slice(ctx)
		if t.err == nil && ctx.Err() == nil {
			rounds = append(rounds, t.last.Counters)
			t.last.Driven.AddTo(&t.result, t.last.RunCnt)
		}
		m.options.Progress.Round()
	}
	t.keep(rounds, load)
	t.fillOnce() // what follows is not measured
	return nil
}

func (m *measurement) roundsOf(j *Job) int {
	if j.PerfEvent != nil || j.Cgroup != nil || j.Socket != nil {
		return m.options.Rounds * sampledRounds / exactRounds
	}
	return m.options.Rounds
}

// keep makes the undisturbed round the only one of the result. The others only
// show where the tick fell, which depends on everything that the machine did
// before.
func (t *track) keep(rounds []drive.Counters, load int) {
	if len(rounds) > 0 {
		c := undisturbed(rounds)
		if t.job.Cgroup != nil || t.job.Socket != nil {
			c.RunTimeNS = usualLeast(rounds, c.RunCnt)
		}
		t.result.Rounds = bench.Counters{Load: []int{load}, RunTimeNS: []uint64{c.RunTimeNS}, RunCnt: []uint64{c.RunCnt}}
		for _, round := range rounds {
			t.result.Rounds.RecursionMisses += round.RecursionMisses
		}
	}
	if t.floor != nil {
		t.result.Floor = t.floor.result.Rounds
	}
}

// undisturbed returns the cheapest of the rounds with the usual number of runs.
// A perf event's window may close late, and a round with more runs has a lower
// mean if the first run costs more than the others.
func undisturbed(rounds []drive.Counters) drive.Counters {
	often := map[uint64]int{}
	for _, c := range rounds {
		often[c.RunCnt]++
	}
	return slices.MinFunc(rounds, func(a, b drive.Counters) int {
		return cmp.Or(
			-cmp.Compare(often[a.RunCnt], often[b.RunCnt]),
			cmp.Compare(a.RunCnt, b.RunCnt),
			cmp.Compare(a.RunTimeNS, b.RunTimeNS))
	})
}

// shorten makes the track's slices short enough to miss the tick, which counts
// only if it interrupts the program. Halving reaches the same number of runs
// even after a slice that was interrupted.
func (t *track) shorten(ctx context.Context) {
	r, ok := t.resizable()
	if !ok {
		return
	}
	r.Resize(func(now int) int { return min(now, exactRuns) })
	if t.job.Command == nil || !t.quicken(ctx, r) {
		t.slice(ctx)
	}
	for before := uint64(math.MaxUint64); t.live() && t.last.RunTimeNS > exactSlice && t.last.RunCnt < before; {
		before = t.last.RunCnt
		r.Resize(func(now int) int { return now / 2 })
		t.slice(ctx)
	}
}

// quicken shortens the slices of a load that does much besides the runs, and
// reports whether the program still ran in the latest slice or failed.
func (t *track) quicken(ctx context.Context, r drive.Resizer) bool {
	var all int
	r.Resize(func(now int) int { all = now; return 1 })
	began := time.Now()
	t.slice(ctx)
	took := time.Since(began)
	r.Resize(func(int) int { return min(all, int(exactTime/max(took, 1))) })
	if t.slice(ctx); !t.live() || t.last.RunCnt > 0 {
		return true
	}
	r.Resize(func(int) int { return all })
	return false
}

// exactSamples returns the counts per run of the program and of its floor.
func exactSamples(r *bench.Result, packets int) []bench.Sample {
	raw, ok := only(&r.Rounds)
	if !ok {
		return nil
	}
	if uneven(raw, packets) {
		r.Warnings = append(r.Warnings, fmt.Sprintf("the runs of a packet differ: what they cost depends on what maps hold, or on chance; %s instructions in %s runs is their mean", unit.Exact(float64(raw.RunTimeNS)), unit.Exact(float64(raw.RunCnt))))
	}
	one := func(m bench.Measure, v float64) bench.Sample {
		return bench.Sample{Measure: m, Values: []float64{unit.Round(v)}}
	}
	var samples []bench.Sample
	floor, hasFloor := only(&r.Floor)
	if hasFloor {
		samples = append(samples, one(bench.Instructions, raw.PerRun()-floor.PerRun()))
	}
	samples = append(samples, one(bench.InstructionsRaw, raw.PerRun()))
	if hasFloor {
		samples = append(samples, one(bench.InstructionsFloor, floor.PerRun()))
	}
	if r.Path != nil {
		samples = append(samples, one(bench.InstructionsPath, r.Path.Cost()))
	}
	return samples
}

// uneven reports whether the runs of a packet differ in cost.
func uneven(c drive.Counters, packets int) bool {
	return packets > 0 && c.RunTimeNS*uint64(packets)%c.RunCnt != 0
}

// only returns the one round that exact mode keeps; ok is false if it has no
// runs.
func only(c *bench.Counters) (round drive.Counters, ok bool) {
	if c.Runs() == 0 {
		return drive.Counters{}, false
	}
	return drive.Counters{RunTimeNS: c.RunTimeNS[0], RunCnt: c.RunCnt[0]}, true
}
