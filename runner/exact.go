package runner

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// In exact mode the machine's clock advances by one nanosecond an instruction,
// so every time that the kernel measures is a count. What disturbs a count is
// the timer tick, which adds thousands of instructions to the round that it
// falls into. Rounds are therefore short, and the smallest of a few is the
// undisturbed one; more would only say the same again.
const (
	exactRounds = 8
	// exactSlice bounds the runs of a slice, in instructions. The tick comes
	// every 4 ms, which are 4 million of them.
	exactSlice = 100_000
	// exactRuns is how many runs a slice has at most.
	exactRuns = 256
	// exactWindow bounds the window of a perf event, which is emulated
	// instruction by instruction, to half of the time between two ticks.
	exactWindow = 2 * time.Millisecond
)

// count measures one track after the other, in exact mode. Nothing has to
// cancel out, and what else is loaded would count: the kernel calls an XDP
// program by way of a search among all that are attached. So a benchmark's
// counts do not depend on the suite that it is part of.
func (m *measurement) count(ctx context.Context, env *environment, load int) error {
	everything := slices.Concat(m.floors, m.tracks)
	m.options.Progress.Start(len(everything)*m.options.Rounds, 0)
	m.out.Loads = load + 1
	for _, t := range everything {
		if ctx.Err() != nil {
			return nil
		}
		t.open(env)
		if err := m.countRuns(ctx, t, load); err != nil {
			return err
		}
		if t.floor != nil {
			t.countPath()
		}
		t.close()
	}
	return nil
}

// countRuns counts what the kernel charges to the track's program.
func (m *measurement) countRuns(ctx context.Context, t *track, load int) error {
	if t.job.Verify != nil {
		return nil
	}
	stats, err := enableStats()
	if err != nil {
		return err
	}
	defer stats.Close()
	t.shorten()
	// Time makes nothing warm here; the first slice alone is unlike the others.
	t.slice()
	t.makeRoom()
	for range m.options.Rounds {
		if ctx.Err() != nil {
			break
		}
		t.slice()
		t.recordLeast(load)
		m.options.Progress.Round()
	}
	return nil
}

// recordLeast makes the latest slice the result's round if its runs cost less
// than those of the slices before: the others say only where the tick fell,
// which depends on everything that the machine did before.
func (t *track) recordLeast(load int) {
	if t.err != nil {
		return
	}
	kept := &t.result.Rounds
	least, ran := only(kept)
	if !ran || t.last.runCnt > 0 && t.last.perRun() < least.perRun() {
		kept.Load, kept.RunTimeNS, kept.RunCnt = []int{load}, []uint64{t.last.runTimeNS}, []uint64{t.last.runCnt}
	}
	kept.RecursionMisses += t.last.recursionMisses
	t.last.driven.addTo(&t.result, t.last.runCnt)
	if t.floor != nil {
		t.result.Floor = t.floor.result.Rounds
	}
}

// shorten makes the track's slices short enough to miss the tick, which counts
// only where it interrupts the program. Halving comes to the same number of
// runs also for a slice that was interrupted.
func (t *track) shorten() {
	r, ok := t.resizable()
	if !ok {
		return
	}
	r.resize(func(now int) int { return min(now, exactRuns) })
	t.slice()
	for before := uint64(math.MaxUint64); t.live() && t.last.runTimeNS > exactSlice && t.last.runCnt < before; {
		before = t.last.runCnt
		r.resize(func(now int) int { return now / 2 })
		t.slice()
	}
}

// exactSamples are the counts of a run: of the program, and of its floor.
func exactSamples(r *bench.Result, packets int) []bench.Sample {
	raw, ok := only(&r.Rounds)
	if !ok {
		return nil
	}
	if packets > 0 && raw.runTimeNS*uint64(packets)%raw.runCnt != 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d instructions in %d runs: the runs of a packet differ", raw.runTimeNS, raw.runCnt))
	}
	one := func(m bench.Measure, v float64) bench.Sample {
		return bench.Sample{Measure: m, Values: []float64{round(v)}}
	}
	var samples []bench.Sample
	floor, hasFloor := only(&r.Floor)
	if hasFloor {
		samples = append(samples, one(bench.Instructions, raw.perRun()-floor.perRun()))
	}
	samples = append(samples, one(bench.InstructionsRaw, raw.perRun()))
	if hasFloor {
		samples = append(samples, one(bench.InstructionsFloor, floor.perRun()))
	}
	if r.Path != nil {
		samples = append(samples, one(bench.InstructionsPath, r.Path.Cost()))
	}
	return samples
}

func (c counters) perRun() float64 { return float64(c.runTimeNS) / float64(c.runCnt) }

// only is the one round that exact mode keeps; ok is false if it has no run.
func only(c *bench.Counters) (round counters, ok bool) {
	if c.Runs() == 0 {
		return counters{}, false
	}
	return counters{runTimeNS: c.RunTimeNS[0], runCnt: c.RunCnt[0]}, true
}

// zeroSeeds makes hash maps hash the same way in each run: which elements
// share a bucket is part of what a lookup costs.
func zeroSeeds(spec *ebpf.CollectionSpec) {
	for _, m := range spec.Maps {
		switch m.Type {
		case ebpf.Hash, ebpf.PerCPUHash, ebpf.LRUHash, ebpf.LRUCPUHash, ebpf.HashOfMaps:
			m.Flags |= unix.BPF_F_ZERO_SEED
		}
	}
}
