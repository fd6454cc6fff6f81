package count

import (
	"context"
	"time"

	"github.com/org/ebpf-bench-action/internal/insn"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/runner/internal/bpfmap"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
	"github.com/org/ebpf-bench-action/runner/internal/subject"
)

// pass holds the counts of one slice.
type pass struct {
	counts *insn.Counts
	runs   uint64
}

func (p pass) perRun(n uint64) float64 { return unit.Round(float64(n) / float64(p.runs)) }

// counted holds the counts and the number of runs so far.
type counted struct {
	counts *insn.Counts
	runs   uint64
}

// reader returns what reads the counts and the number of runs so far, until it is closed.
func (e *Executed) reader(s *subject.Subject) (read func() (counted, error), closeReader func(), err error) {
	entered := func() (c counted, err error) {
		if c.counts, err = e.readWhole(s); err == nil {
			c.runs = c.counts.Runs(e.job.Program)
		}
		return c, err
	}
	if !e.table.TailCalls() && len(e.job.Replacements) == 0 {
		return entered, func() {}, nil
	}
	// A tail call may enter a program again in the same run, and a program whose
	// first function is replaced is not entered at all: only the kernel knows the
	// number of runs.
	stats, err := driver.EnableStats()
	if err != nil {
		return nil, nil, err
	}
	return func() (counted, error) {
		c, err := entered()
		if err != nil {
			return c, err
		}
		kernel, err := driver.ReadCounters(s.Program)
		c.runs = kernel.RunCnt
		return c, err
	}, func() { _ = stats.Close() }, nil
}

// count drives the program and keeps the counts of each slice. The first runs
// find maps as they were filled, the others find what earlier runs left there.
// It ends with the context.
func (e *Executed) count(ctx context.Context, s *subject.Subject, read func() (counted, error)) error {
	if err := s.Drive(ctx); err != nil {
		return err
	}
	before, err := read()
	if err != nil {
		return err
	}
	e.opening, e.first = pass(before), before.counts
	if e.job.Settle > 0 {
		if err := s.Settle(ctx, e.job.Settle); err != nil {
			return err
		}
		e.Fills = bpfmap.Fills(s.Coll)
		if before, err = read(); err != nil {
			return err
		}
		e.first = before.counts
	}
	for n := leastPasses; len(e.passes) < n; {
		began := time.Now()
		if err := s.Drive(ctx); err != nil {
			return err
		}
		took := time.Since(began)
		after, err := read()
		if err != nil {
			return err
		}
		p := pass{after.counts.Sub(before.counts), after.runs - before.runs}
		before = after
		if w, ok := s.Driver.(driver.Widener); ok && p.runs == 0 && w.Widen() {
			// The load got no CPU while the window was open: others use them
			// all.
			n = leastPasses
			continue
		}
		if last := len(e.passes) - 1; last < 0 {
			n = e.enough(took)
		} else if e.passes[last].counts.Equal(p.counts) {
			p.counts = e.passes[last].counts // keep only one copy in memory
		}
		e.passes = append(e.passes, p)
	}
	if e.job.Settle > 0 && !bpfmap.StartOver(s.Emptiers) {
		if e.looks, err = look(ctx, s, e.job.Settle, read); err != nil {
			return err
		}
		if before, err = read(); err != nil {
			return err
		}
	}
	return e.awaitLater(ctx, s, before.counts)
}

// parts is how many parts of a look are counted apart. Where chance alone decides, all of
// one look are above all of another in 1 of 12,870 cases.
const parts = 8

// look drives the program as often as it ran before it was measured, to find what only few
// runs do.
func look(ctx context.Context, s *subject.Subject, runs int, read func() (counted, error)) (all []pass, err error) {
	before, err := read()
	for n := 0; n < parts && err == nil; n++ {
		if err = s.Settle(ctx, max(runs/parts, 1)); err != nil {
			break
		}
		var after counted
		if after, err = read(); err == nil && after.runs > before.runs {
			all = append(all, pass{after.counts.Sub(before.counts), after.runs - before.runs})
		}
		before = after
	}
	return all, err
}

// Counters are read leastReads times, and for readTime, to find them while no CPU runs the
// program. A process that does may be held up within a run, until it gets a CPU: all reads
// together wait for that as long as patience.
const (
	leastReads = 64
	readTime   = 5 * time.Millisecond
	patience   = 500 * time.Millisecond
	readPause  = 200 * time.Microsecond
)

// readWhole returns the counts of whole runs, if it can: other processes may run the
// program while it reads.
func (e *Executed) readWhole(s *subject.Subject) (counts *insn.Counts, err error) {
	began := time.Now()
	for n := 1; ; n++ {
		if counts, err = e.table.Read(s.Coll); err != nil || counts.Whole() {
			return counts, err
		}
		if n < leastReads || time.Since(began) < readTime {
			continue
		}
		if e.waited > patience {
			return counts, nil
		}
		time.Sleep(readPause)
		e.waited += readPause
	}
}

const (
	// leastPasses is the least number of passes: a program that does the same
	// each time counts the same each time.
	leastPasses = 4
	// mostPasses is the number of passes if something may make runs differ:
	// enough to see what happens in every hundredth run.
	mostPasses = 256
	// passBudget is how long the passes may take.
	passBudget = 200 * time.Millisecond
)

// enough returns the number of passes to make, given how long one takes. It is
// one of a few numbers, so that small differences in time do not change it.
func (e *Executed) enough(took time.Duration) int {
	if len(e.job.Frames) > 0 && e.table.Repeatable(e.job.Spec) {
		return leastPasses
	}
	n := mostPasses
	for n > leastPasses && time.Duration(n)*took > passBudget {
		n /= 4
	}
	return n
}
