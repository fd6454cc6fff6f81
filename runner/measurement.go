package runner

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/probe"
	"github.com/org/ebpf-bench-action/internal/thread"
	"github.com/org/ebpf-bench-action/runner/internal/count"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
	"github.com/org/ebpf-bench-action/runner/internal/load"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
)

// measurement is a run in progress. It belongs to one locked thread.
type measurement struct {
	options Options
	out     bench.Run
	groups  []*group
	// size bounds the slices in exact mode, in the driver's unit; 0 does not.
	size int
	// planned is the number of rounds of the groups so far.
	planned int
	// unsaved is the error that kept results from being saved.
	unsaved error
}

// newMeasurement returns the measurement of jobs that fit the machine; see fit.
func newMeasurement(jobs []*Job, o Options) *measurement {
	m := &measurement{options: o, out: bench.Run{
		Tool:    o.Tool,
		Testbed: testbed(o.Mode),
		Started: time.Now().UTC().Truncate(time.Second),
		Seed:    o.Seed,
		Partial: true,
	}}
	m.groups = newGroups(jobs, o.Mode == bench.ModeExact)
	return m
}

// fit returns the jobs as this machine can drive them, so that each run finds the
// input of the suite.
func fit(ctx context.Context, jobs []*Job, o *Options) (all []*Job) {
	cpus, _ := thread.Allowed() // if it fails, assume one CPU
	for _, j := range plan.OrAlone(plan.Adapt(jobs), o.Mode, cpus) {
		all = append(all, count.Study(ctx, j)...)
	}
	return all
}

func testbed(mode bench.Mode) bench.Testbed {
	t := probe.Testbed()
	t.Mode = cmp.Or(mode, bench.ModeHost)
	return t
}

// run measures all loads, one after the other.
func (m *measurement) run(ctx context.Context) error {
	began := time.Now()
	env, err := driver.NewEnvironment(m.options.Mode == bench.ModeExact)
	if err != nil {
		return err
	}
	defer env.Close()
	for _, c := range env.Counters.Measures() {
		m.out.Testbed.HardwareCounters = append(m.out.Testbed.HardwareCounters, c.Name)
	}
	return m.measure(ctx, env, began)
}

// measure measures all groups, one after the other. A group in which runs turn out to
// depend on the input that others leave is measured anew.
func (m *measurement) measure(ctx context.Context, env *driver.Environment, began time.Time) error {
	for i := 0; i < len(m.groups); i++ {
		planned := m.planned
		if err := m.loads(ctx, env, i, began); err != nil {
			return err
		}
		if jobs := m.groups[i].anew(); jobs != nil {
			m.planned = planned
			m.groups = slices.Replace(m.groups, i, i+1, newGroups(jobs, m.options.Mode == bench.ModeExact)...)
			i--
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil
}

// loads measures all loads of a group, one after the other, until it has to be measured
// anew. It saves the results after each, or only after the last if there are many
// results.
func (m *measurement) loads(ctx context.Context, env *driver.Environment, nth int, began time.Time) error {
	g, last := m.groups[nth], nth+1 == len(m.groups)
	measure := m.load
	if m.options.Mode == bench.ModeExact {
		measure = m.count
	}
	for load := range m.options.Loads {
		if err := measure(ctx, env, g, load); err != nil {
			return err
		}
		if g.anew() != nil {
			break
		}
		done := load+1 == m.options.Loads
		m.out.Partial = ctx.Err() != nil || !done || !last
		if m.options.Mode != bench.ModeExact { // whose clock tells no time
			m.out.Elapsed = seconds(time.Since(began))
		}
		if m.options.Save != nil && m.unsaved == nil && (len(m.groups) == 1 || done || ctx.Err() != nil) {
			// Failing to save the results must not lose them.
			m.unsaved = m.options.Save(m.results())
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil
}

// load loads a group afresh and measures this load's share of the rounds.
func (m *measurement) load(ctx context.Context, env *driver.Environment, g *group, nth int) error {
	stats, err := driver.EnableStats()
	if err != nil {
		return err
	}
	defer stats.Close()
	defer func() {
		g.close()
		_ = env.LeaveHooks()
		load.Settle(ctx)
	}()
	var loading time.Duration
	timed := func(do func()) {
		began := time.Now()
		do()
		loading += time.Since(began)
	}
	fit := func(d *driven) {
		d.attached(ctx, func() {
			d.settle(ctx)
			d.shortenSlow(ctx)
			d.warmUp(ctx)
			d.lengthen(ctx, sliceTime)
			d.makeRoom(ctx)
		})
	}
	for _, f := range g.floors {
		if ctx.Err() != nil {
			return nil
		}
		timed(func() {
			f.open(ctx, env)
			fit(f)
		})
	}
	for _, t := range g.tracks {
		if ctx.Err() != nil {
			return nil
		}
		timed(func() {
			t.open(ctx, env)
			fit(&t.driven)
		})
		t.countInsns(ctx, count.Like{Slice: int(t.last.RunCnt)}) // in the first load alone
		timed(func() { t.matchFloor(ctx) })
	}
	if nth == 0 {
		m.planRounds(ctx, g, loading)
	}
	began := time.Now()
	m.rounds(ctx, g, nth)
	m.out.Loads = max(m.out.Loads, nth+1)
	m.out.Measuring += seconds(time.Since(began))
	profile(ctx, env, g.tracks, max(minRounds/m.options.Loads, 1))
	for _, t := range g.tracks {
		t.strays(ctx)
	}
	return nil
}

func (m *measurement) tracks() (all []*track) {
	for _, g := range m.groups {
		all = append(all, g.tracks...)
	}
	return all
}

// results returns the run as far as it got.
func (m *measurement) results() *bench.Run {
	out := m.out
	out.Results = nil
	for _, t := range m.tracks() {
		out.Results = append(out.Results, t.complete())
	}
	return &out
}

// seconds rounds to milliseconds; nobody reads more.
func seconds(d time.Duration) float64 { return d.Round(time.Millisecond).Seconds() }

// countInsns counts the instructions that runs of the track's program execute.
// It does so once per run of the tool, since no load changes them. A failure to
// count them is a warning, not a fault of the benchmark.
func (t *track) countInsns(ctx context.Context, like count.Like) {
	if !t.live() || t.job.Verify != nil || t.counted {
		return
	}
	t.counted = true
	e, err := t.countOnce(ctx, like)
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		t.uncounted = fmt.Sprintf("the BPF instructions of a run could not be counted: %v", err)
		return
	}
	t.executed, t.insns = e, e.Samples()
	if w := e.Warning(); w != "" && len(e.Kinds()) == 0 {
		t.warn(w)
	}
	for _, w := range append(e.TailCallWarnings(), e.LaterWarnings()...) {
		t.warn(w)
	}
	if w := e.AgedWarning(); w != "" {
		t.warn(w)
	}
}

func (t *track) countOnce(ctx context.Context, like count.Like) (*count.Executed, error) {
	return count.Count(ctx, t.job, count.StackDepths(t.subject.Coll), like)
}
