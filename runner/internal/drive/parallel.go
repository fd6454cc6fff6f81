package drive

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/org/ebpf-bench-action/internal/thread"
)

// parallel runs a program on all CPUs at once: by the measuring thread, and by
// one of its own on each other CPU. Alone, it is the measuring thread's.
type parallel struct {
	mine   *testRun
	others []*companion
	// alone keeps the companions out of a slice.
	alone bool
	ready atomic.Int32
	// shared is the part of the latest slice in which all threads were at it.
	shared float64
}

// companion is a thread on a CPU of its own that runs a slice when it is told to.
type companion struct {
	run   *testRun
	start chan context.Context
	done  chan error
	// when is when its latest slice was.
	when span
}

// span is from when to when.
type span struct{ began, ended time.Time }

// newParallel makes companions for a driver, which belongs to the thread on the
// last of the CPUs.
func newParallel(mine *testRun, cpus []int) *parallel {
	p := &parallel{mine: mine}
	for _, cpu := range cpus[:len(cpus)-1] {
		run := *mine
		run.runs, run.retvals = append([]int(nil), mine.runs...), make([]uint32, len(mine.retvals))
		c := &companion{run: &run, start: make(chan context.Context), done: make(chan error)}
		p.others = append(p.others, c)
		go c.serve(cpu, p.together)
	}
	return p
}

func (p *parallel) cpus() int { return 1 + len(p.others) }

// serve runs slices until there are no more. Its thread ends with it.
func (c *companion) serve(cpu int, together func()) {
	runtime.LockOSThread()
	err := thread.PinTo(cpu)
	for ctx := range c.start {
		together()
		c.when.began = time.Now()
		if err == nil {
			_, err = c.run.Drive(ctx)
		}
		c.when.ended = time.Now()
		c.done <- err
	}
	close(c.done)
}

// together returns at the same moment on all threads, as near as one can have it:
// waking up takes as long as a whole slice.
func (p *parallel) together() {
	for p.ready.Add(1); int(p.ready.Load()) < p.cpus(); {
		// Go may have fewer threads run than there are CPUs.
		runtime.Gosched()
	}
}

func (p *parallel) Drive(ctx context.Context) (Driven, error) {
	if p.alone {
		return p.mine.Drive(ctx)
	}
	p.ready.Store(0)
	for _, c := range p.others {
		c.start <- ctx
	}
	p.together()
	began := time.Now()
	d, err := p.mine.Drive(ctx)
	shared, spent := span{began, time.Now()}, span{began, time.Now()}
	for _, c := range p.others {
		if theirs := <-c.done; err == nil && theirs != nil {
			err = fmt.Errorf("on another CPU: %w", theirs)
		}
		shared = span{later(shared.began, c.when.began), earlier(shared.ended, c.when.ended)}
		spent = span{earlier(spent.began, c.when.began), later(spent.ended, c.when.ended)}
	}
	p.shared = max(float64(shared.ended.Sub(shared.began))/float64(max(spent.ended.Sub(spent.began), 1)), 0)
	d.cpus = p.cpus()
	return d, err
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// Resize is given the runs of all CPUs.
func (p *parallel) Resize(runs func(now int) int) {
	each := func(now int) int { return max(runs(now*p.cpus())/p.cpus(), 1) }
	p.mine.Resize(each)
	for _, c := range p.others {
		c.run.runs = append(c.run.runs[:0], p.mine.runs...)
	}
}

const (
	// enoughShared is the part of a slice in which all CPUs should be at it.
	enoughShared = 0.8
	// parallelTries is how often a slice is tried until they are: what else runs
	// on the machine keeps them apart now and then.
	parallelTries = 4
)

// slice is a slice on all CPUs, with one of the program alone before it.
func (p *parallel) slice(ctx context.Context, charge func(context.Context) (Slice, error)) (Slice, error) {
	p.alone = true
	alone, err := charge(ctx)
	p.alone = false
	if err != nil {
		return Slice{}, err
	}
	var all Slice
	for range parallelTries {
		if all, err = charge(ctx); err != nil || p.shared >= enoughShared {
			break
		}
	}
	all.Alone, all.Apart = &alone, p.shared < enoughShared
	return all, err
}

func (p *parallel) Warnings() []string { return p.mine.Warnings() }

func (p *parallel) Close() error {
	for _, c := range p.others {
		close(c.start)
		for range c.done { // until its thread ends
		}
	}
	return p.mine.Close()
}
