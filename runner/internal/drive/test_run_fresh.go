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

// left is what a run left of its input. A nil slice is what the kernel does not
// tell.
type left struct {
	retval        uint32
	data, context []byte
}

const (
	// growth is how many bytes a program may add to a packet before only the
	// kernel's error shows that it did.
	growth = 256
	// sizeofSkBuff is more than the size of a struct __sk_buff.
	sizeofSkBuff = 256
)

// leave runs an input n times, in one call or, if fresh, in a call for each run.
// It returns what the last run left.
func (d *testRun) leave(in *plan.Input, n int, fresh bool) (left, error) {
	repeat := n
	if fresh {
		repeat = 1
		for range n - 1 {
			if _, err := d.program.Run(runOptions(in, repeat)); err != nil {
				return left{}, err
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
	retval, err := d.program.Run(o)
	return left{retval, o.DataOut, context}, err
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
	d, ok := s.Driver.(*testRun)
	if p, is := s.Driver.(*parallel); is {
		d, ok = p.mine, true
	}
	if !ok {
		return "", nil
	}
	err = thread.WithoutSignals(func() (err error) {
		on, err = d.depends(ctx, s, count)
		return err
	})
	return on, err
}

func (d *testRun) depends(ctx context.Context, s *Subject, count func() (uint64, error)) (on string, err error) {
	began := time.Now()
	for i := range d.inputs {
		switch _, err := d.leave(&d.inputs[i], 1, true); {
		case errors.Is(err, unix.ENOSPC): // it grew
			return OnPacket, nil
		case err != nil:
			return "", explainTestRun(d.program, i, &d.inputs[i], err)
		}
	}
	each := time.Since(began) / time.Duration(len(d.inputs))
	runs := min(max(int(freshTime/max(each, 1)), 2), freshRuns, slices.Max(d.runs))
	lefts := [2][]left{make([]left, len(d.inputs)), make([]left, len(d.inputs))}
	slice := func(lefts []left, fresh bool) (row []uint64, err error) {
		if err := s.empty(ctx); err != nil {
			return nil, err
		}
		before, err := count()
		if err != nil {
			return nil, err
		}
		for i := range d.inputs {
			if lefts[i], err = d.leave(&d.inputs[i], runs, fresh); err != nil {
				return nil, err
			}
			row = append(row, uint64(lefts[i].retval))
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
			switch {
			case n == 0:
			case !bytes.Equal(l.data, lefts[1][i].data):
				return OnPacket, nil
			case !bytes.Equal(l.context, lefts[1][i].context):
				return OnContext, nil
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

// What a run may depend on: what the run before it left of its input.
const (
	OnPacket  = "the packet"
	OnContext = "the context"
	OnEither  = "the packet or its context"
)
