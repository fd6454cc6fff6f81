package testrun

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/org/ebpf-bench-action/internal/thread"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
)

// parallel runs a program on all CPUs at once: on the measuring thread, and on
// a thread for each other CPU. Alone, it runs only on the measuring thread.
type parallel struct {
	*testRun // on the measuring thread
	others   []*companion
	// onlyMine keeps the companions out of a slice.
	onlyMine bool
	ready    atomic.Int32
	// shared is the fraction of the latest slice in which all threads were
	// running.
	shared float64
}

// companion is a thread on a CPU of its own that runs a slice on request.
type companion struct {
	run   *testRun
	start chan context.Context
	done  chan error
	// when is the time of its latest slice.
	when span
}

// span is a period of time.
type span struct{ began, ended time.Time }

// newParallel makes companions for a driver, which belongs to the thread on the
// last of the CPUs.
func newParallel(mine *testRun, cpus []int) *parallel {
	p := &parallel{testRun: mine}
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

// serve runs slices until start is closed. Its thread ends with it.
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

// together returns at the same moment on all threads, as nearly as possible. It
// spins, because waking up takes as long as a whole slice.
func (p *parallel) together() {
	for p.ready.Add(1); int(p.ready.Load()) < p.cpus(); {
		// Go may run fewer threads than there are CPUs.
		runtime.Gosched()
	}
}

func (p *parallel) Drive(ctx context.Context) (driver.Driven, error) {
	if p.onlyMine {
		return p.testRun.Drive(ctx)
	}
	p.ready.Store(0)
	for _, c := range p.others {
		c.start <- ctx
	}
	p.together()
	began := time.Now()
	d, err := p.testRun.Drive(ctx)
	shared, spent := span{began, time.Now()}, span{began, time.Now()}
	for _, c := range p.others {
		if theirs := <-c.done; err == nil && theirs != nil {
			err = fmt.Errorf("on another CPU: %w", theirs)
		}
		shared = span{later(shared.began, c.when.began), earlier(shared.ended, c.when.ended)}
		spent = span{earlier(spent.began, c.when.began), later(spent.ended, c.when.ended)}
	}
	p.shared = max(float64(shared.ended.Sub(shared.began))/float64(max(spent.ended.Sub(spent.began), 1)), 0)
	d.CPUs = p.cpus()
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

// Resize counts the runs on all CPUs.
func (p *parallel) Resize(runs func(now int) int) {
	each := func(now int) int { return max(runs(now*p.cpus())/p.cpus(), 1) }
	p.testRun.Resize(each)
	for _, c := range p.others {
		c.run.runs = append(c.run.runs[:0], p.testRun.runs...)
	}
}

// enoughShared is the fraction of a slice in which all CPUs should be running.
const enoughShared = 0.8

// Inputs implements driver.Repeater: One would run on one CPU only.
func (p *parallel) Inputs() int { return 0 }

func (p *parallel) Alone(alone bool) { p.onlyMine = alone }

func (p *parallel) Apart() bool { return p.shared < enoughShared }

func (p *parallel) Close() error {
	for _, c := range p.others {
		close(c.start)
		for range c.done { // until its thread ends
		}
	}
	return p.testRun.Close()
}
