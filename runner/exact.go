package runner

import (
	"context"
	"fmt"
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
	// exactSlice bounds a slice, in instructions. The tick comes every 4 ms,
	// which are 4 million of them.
	exactSlice = 100_000
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
	// Time makes nothing warm here; the first slice alone is unlike the others.
	t.slice()
	t.makeRoom()
	t.shorten()
	for range m.options.Rounds {
		if ctx.Err() != nil {
			break
		}
		t.slice()
		t.recordAlone(load)
		m.options.Progress.Round()
	}
	return nil
}

// recordAlone adds the latest slice to the result, with the floor that was
// measured before.
func (t *track) recordAlone(load int) {
	if t.err != nil {
		return
	}
	t.last.addTo(&t.result.Rounds, load)
	t.last.driven.addTo(&t.result, t.last.runCnt)
	if t.floor != nil {
		t.result.Floor = t.floor.result.Rounds
	}
}

// shorten makes the track's slices short enough to miss the tick. It goes by
// the wall time of the latest slice, which is a count too.
func (t *track) shorten() {
	r, ok := t.resizable()
	if !ok || t.last.wall <= 0 {
		return
	}
	wall := int(t.last.wall)
	r.resize(func(now int) int { return max(now*exactSlice/max(wall, exactSlice), 1) })
	t.slice()
}

// exactSamples are the counts of a run: the smallest of the rounds, of the
// program and of its floor.
func exactSamples(r *bench.Result, packets int) []bench.Sample {
	raw, ok := smallest(&r.Rounds)
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
	floor, hasFloor := smallest(&r.Floor)
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

// smallest is the round with the lowest cost a run; ok is false if no round
// has any run.
func smallest(c *bench.Counters) (min counters, ok bool) {
	for i, runs := range c.RunCnt {
		if runs == 0 {
			continue
		}
		this := counters{runTimeNS: c.RunTimeNS[i], runCnt: runs}
		if !ok || this.perRun() < min.perRun() {
			min, ok = this, true
		}
	}
	return min, ok
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
