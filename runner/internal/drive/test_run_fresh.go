package drive

import (
	"bytes"
	"context"
	"errors"
	"math/bits"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/thread"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
)

const (
	// growth is how many bytes a program may add to a packet before only the
	// kernel's error shows that it did.
	growth = 256
	// sizeofSkBuff is more than the size of a struct __sk_buff.
	sizeofSkBuff = 256
)

// unlike returns what of an input was left otherwise, or "".
func unlike(l, m plan.Left) string {
	switch {
	case !bytes.Equal(l.Data, m.Data):
		return OnPacket
	case !bytes.Equal(l.Context, m.Context):
		return OnContext
	}
	return ""
}

// leave runs an input n times, in one call or, if fresh, in a call for each run.
// It returns what the last run left.
func (d *testRun) leave(in *plan.Input, n int, fresh bool) (l plan.Left, retval uint32, err error) {
	repeat := n
	if fresh {
		repeat = 1
		for range n - 1 {
			if _, err := d.program.Run(runOptions(in, repeat)); err != nil {
				return plan.Left{}, 0, err
			}
		}
	}
	if repeat > 1 && d.hold != nil {
		d.hold()
	}
	o := runOptions(in, repeat)
	o.DataOut = make([]byte, len(in.Data)+growth)
	var context []byte
	if d.typ.ContextOut {
		context = make([]byte, sizeofSkBuff)
		o.ContextOut = context
	}
	retval, err = d.program.Run(o)
	return plan.Left{Data: o.DataOut, Context: context}, retval, err
}

// seen is what slices of the same runs look like: how many instructions each
// executed, and what its last runs returned.
type seen [][]uint64

// apart reports whether a number of each slice of one kind is above that of all
// slices of another kind, or below. Slices of runs that differ by chance, or by
// what maps hold, overlap, if there are several.
func (s seen) apart(t seen) bool {
	column := func(of seen, i int) (all []uint64) {
		for _, row := range of {
			all = append(all, row[i])
		}
		return all
	}
	for i := range s[0] {
		a, b := column(s, i), column(t, i)
		if slices.Max(a) < slices.Min(b) || slices.Max(b) < slices.Min(a) {
			return true
		}
	}
	return false
}

// steady reports whether all slices look alike.
func (s seen) steady() bool {
	return !slices.ContainsFunc(s, func(row []uint64) bool { return !slices.Equal(row, s[0]) })
}

const (
	// freshRuns is how many runs of an input are compared, unless they would take
	// longer than freshTime.
	freshRuns = plan.ManyRuns
	freshTime = 10 * time.Millisecond
	// fewSlices is the number of slices if all are alike, and manySlices that if they
	// are not: that chance separates the kinds is then less likely than once in 6,000
	// times.
	fewSlices, manySlices = 4, 16
)

// Depends returns what a run depends on that the run before it in the same call
// left, or "" if the repeats of a call are like runs with a call of their own:
// they leave the same packet, context and return value, and execute as many
// instructions. count returns how many instructions the program has executed. What
// runs leave in maps they leave both ways.
func (s *Subject) Depends(ctx context.Context, count func() (uint64, error)) (on string, err error) {
	d := s.testRun()
	if d == nil {
		return "", nil
	}
	err = thread.WithoutSignals(func() (err error) {
		on, err = d.depends(ctx, s, count)
		return err
	})
	return on, err
}

// testRun returns the driver if it is test_run, on one CPU or on all.
func (s *Subject) testRun() *testRun {
	switch d := s.Driver.(type) {
	case *testRun:
		return d
	case *parallel:
		return d.mine
	}
	return nil
}

func (d *testRun) depends(ctx context.Context, s *Subject, count func() (uint64, error)) (on string, err error) {
	began := time.Now()
	for i := range d.inputs {
		switch _, _, err := d.leave(&d.inputs[i], 1, true); {
		case errors.Is(err, unix.ENOSPC): // it grew
			return OnPacket, nil
		case err != nil:
			return "", explainTestRun(d.program, i, &d.inputs[i], err)
		}
	}
	each := time.Since(began) / time.Duration(len(d.inputs))
	runs := min(max(int(freshTime/max(each, 1)), 2), freshRuns, slices.Max(d.runs))
	lefts := [2][]plan.Left{make([]plan.Left, len(d.inputs)), make([]plan.Left, len(d.inputs))}
	slice := func(lefts []plan.Left, fresh bool) (row []uint64, err error) {
		if err := s.empty(ctx); err != nil {
			return nil, err
		}
		before, err := count()
		if err != nil {
			return nil, err
		}
		for i := range d.inputs {
			var retval uint32
			if lefts[i], retval, err = d.leave(&d.inputs[i], runs, fresh); err != nil {
				return nil, err
			}
			row = append(row, uint64(retval))
		}
		after, err := count()
		return append(row, after-before), err
	}
	var repeated, fresh seen
	for n := range manySlices {
		// The order of Thue and Morse has no period, unlike programs that do
		// something in every hundredth run.
		kind := bits.OnesCount(uint(n)) % 2
		row, err := slice(lefts[kind], kind == 1)
		if errno := unix.Errno(0); kind == 0 && errors.As(err, &errno) && ctx.Err() == nil {
			// One run of it is possible, more are not.
			return OnPacket, nil
		}
		if err != nil {
			return "", err
		}
		if kind == 0 {
			repeated = append(repeated, row)
		} else {
			fresh = append(fresh, row)
		}
		for i, l := range lefts[0] {
			if n == 0 {
				break
			}
			if on := unlike(l, lefts[1][i]); on != "" {
				return on, nil
			}
		}
		if n+1 == fewSlices && slices.Concat(repeated, fresh).steady() {
			return "", nil
		}
	}
	if repeated.apart(fresh) {
		return OnEither, nil
	}
	return "", nil
}

const (
	// A program may leave something else once in a while, on which no run depends. Only
	// strayedTwice of strayTries are more than that.
	strayedTwice, strayTries = 2, 5
	// mostToStray is how many runs of an input have a call, and longToStray when a shorter
	// one is long enough.
	mostToStray = 1 << 16
	longToStray = longCall / 4
)

// Strays returns on what of its input a run depends if one of very many in a call
// leaves something else than the others, which those that follow then find; or "".
func (s *Subject) Strays(ctx context.Context) (on string, err error) {
	d := s.testRun()
	if d == nil {
		return "", nil
	}
	var took time.Duration
	for runs := freshRuns; on == "" && err == nil && runs <= mostToStray && took < longToStray; runs *= 2 {
		began := time.Now()
		on, err = d.strays(ctx, s, nil, func(int) int { return runs })
		took = time.Since(began) / time.Duration(len(d.inputs))
	}
	return on, err
}

// Leaves returns what a run of each input leaves of it.
func (s *Subject) Leaves(ctx context.Context) (all []plan.Left, err error) {
	d := s.testRun()
	if d == nil {
		return nil, nil
	}
	if err := s.empty(ctx); err != nil {
		return nil, err
	}
	for i := range d.inputs {
		l, _, err := d.leave(&d.inputs[i], 1, true)
		if err != nil {
			return nil, explainTestRun(d.program, i, &d.inputs[i], err)
		}
		all = append(all, l)
	}
	return all, nil
}

// StraysInSlice is like Strays for the runs of a slice, which should also leave
// what those left that showed that they do not depend on one another.
func (s *Subject) StraysInSlice(ctx context.Context) (on string, err error) {
	d := s.testRun()
	if d == nil || d.fresh || d.left == nil {
		return "", nil
	}
	return d.strays(ctx, s, d.left, func(i int) int { return min(d.runs[i], d.atOnce) })
}

// strays compares what the last of so many runs of each input leaves with what one run
// leaves, and both with what was left before, unless that is nil.
func (d *testRun) strays(ctx context.Context, s *Subject, before []plan.Left, runs func(i int) int) (on string, err error) {
	once := func() (on string, err error) {
		if err := s.empty(ctx); err != nil {
			return "", err
		}
		for i := range d.inputs {
			last, _, err := d.leave(&d.inputs[i], runs(i), false)
			if errors.Is(err, unix.ENOSPC) { // it grew
				return OnPacket, nil
			}
			one, _, failed := d.leave(&d.inputs[i], 1, true)
			if err := errors.Join(err, failed); err != nil {
				return "", explainTestRun(d.program, i, &d.inputs[i], err)
			}
			if on = unlike(last, one); on == "" && before != nil {
				on = unlike(one, before[i])
			}
			if on != "" {
				return on, nil
			}
		}
		return "", nil
	}
	err = thread.WithoutSignals(func() error {
		strayed := 0
		for try := 0; try < strayTries && strayed < strayedTwice; try++ {
			now, err := once()
			if err != nil || now == "" && try == 0 {
				return err
			}
			if now != "" {
				strayed++
				on = now
			}
		}
		if strayed < strayedTwice {
			on = ""
		}
		return nil
	})
	return on, err
}

// What a run may depend on: what the run before it left of its input.
const (
	OnPacket  = "the packet"
	OnContext = "the context"
	OnEither  = "the packet or its context"
)
