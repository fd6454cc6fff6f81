package testrun

import (
	"bytes"
	"context"
	"errors"
	"math/bits"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/thread"
	"github.com/org/ebpf-bench-action/programs/empty"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
	"github.com/org/ebpf-bench-action/runner/internal/progrun"
)

const (
	// growth is how many bytes a program may add to a packet before only the
	// kernel's error shows that it did.
	growth = 256
	// sizeofSkBuff is more than the size of a struct __sk_buff.
	sizeofSkBuff = 256
)

// unlike returns what of an input was left otherwise, or "".
func unlike(l, m progrun.Left) string {
	switch {
	case !bytes.Equal(l.Data, m.Data):
		return driver.OnPacket
	case !bytes.Equal(l.Context, m.Context):
		return driver.OnContext
	}
	return ""
}

// leave runs an input n times, in one call or, if fresh, in a call for each run.
// It returns what the last run left.
func (d *testRun) leave(in *progrun.Input, n int, fresh bool) (l progrun.Left, retval uint32, err error) {
	repeat := n
	if fresh {
		repeat = 1
		for range n - 1 {
			if _, err := d.program.Run(runOptions(in, repeat)); err != nil {
				return progrun.Left{}, 0, err
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
	return progrun.Left{Data: o.DataOut, Context: context}, retval, err
}

// untouched returns what a program that changes nothing leaves of each input.
func (d *testRun) untouched() (all []progrun.Left, err error) {
	spec, err := empty.Like(d.spec)
	if err != nil {
		return nil, err
	}
	p, err := ebpf.NewProgram(spec)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	other := &testRun{program: p, typ: d.typ}
	for i := range d.inputs {
		l, _, err := other.leave(&d.inputs[i], 1, true)
		if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	return all, nil
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
	freshRuns = manyRuns
	freshTime = 10 * time.Millisecond
	// fewSlices is the number of slices if all are alike, and manySlices that if they
	// are not: that chance separates the kinds is then less likely than once in 6,000
	// times.
	fewSlices, manySlices = 4, 16
)

// Depends implements driver.Repeater.
func (d *testRun) Depends(ctx context.Context, empty func() error, count func() (uint64, error)) (on string, err error) {
	err = thread.WithoutSignals(func() (err error) {
		on, err = d.depends(ctx, empty, count)
		return err
	})
	return on, err
}

func (d *testRun) depends(ctx context.Context, empty func() error, count func() (uint64, error)) (on string, err error) {
	began := time.Now()
	for i := range d.inputs {
		switch _, _, err := d.leave(&d.inputs[i], 1, true); {
		case errors.Is(err, unix.ENOSPC): // it grew
			return driver.OnPacket, nil
		case err != nil:
			return "", explain(d.program, i, &d.inputs[i], err)
		}
	}
	changed := ""
	given, err := d.untouched()
	if err != nil || d.hides {
		changed = driver.OnEither
	}
	each := time.Since(began) / time.Duration(len(d.inputs))
	runs := min(max(int(freshTime/max(each, 1)), 2), freshRuns, slices.Max(d.runs))
	lefts := [2][]progrun.Left{make([]progrun.Left, len(d.inputs)), make([]progrun.Left, len(d.inputs))}
	slice := func(lefts []progrun.Left, fresh bool) (row []uint64, err error) {
		if err := empty(); err != nil {
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
			return driver.OnPacket, nil
		}
		if err != nil {
			return "", err
		}
		if kind == 0 {
			repeated = append(repeated, row)
		} else {
			fresh = append(fresh, row)
		}
		for i, l := range lefts[kind] {
			if changed == "" {
				changed = unlike(l, given[i])
			}
		}
		if changed != "" && d.byInput {
			return changed, nil
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
	// If a run changes nothing, it is time that sets them apart.
	if changed != "" && repeated.apart(fresh) {
		return driver.OnEither, nil
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

// Strays implements driver.Repeater.
func (d *testRun) Strays(empty func() error) (on string, err error) {
	var took time.Duration
	for runs := freshRuns; on == "" && err == nil && runs <= mostToStray && took < longToStray; runs *= 2 {
		began := time.Now()
		on, err = d.strays(empty, nil, func(int) int { return runs })
		took = time.Since(began) / time.Duration(len(d.inputs))
	}
	return on, err
}

// Leaves implements driver.Repeater.
func (d *testRun) Leaves(empty func() error) (all []progrun.Left, err error) {
	if err := empty(); err != nil {
		return nil, err
	}
	for i := range d.inputs {
		l, _, err := d.leave(&d.inputs[i], 1, true)
		if err != nil {
			return nil, explain(d.program, i, &d.inputs[i], err)
		}
		all = append(all, l)
	}
	return all, nil
}

// StraysInSlice implements driver.Repeater.
func (d *testRun) StraysInSlice(empty func() error) (on string, err error) {
	if d.fresh || d.left == nil {
		return "", nil
	}
	return d.strays(empty, d.left, func(i int) int { return min(d.runs[i], d.atOnce) })
}

// strays compares what the last of so many runs of each input leaves with what one run
// leaves, and both with what was left before, unless that is nil.
func (d *testRun) strays(empty func() error, before []progrun.Left, runs func(i int) int) (on string, err error) {
	once := func() (on string, err error) {
		if err := empty(); err != nil {
			return "", err
		}
		for i := range d.inputs {
			last, _, err := d.leave(&d.inputs[i], runs(i), false)
			if errors.Is(err, unix.ENOSPC) { // it grew
				return driver.OnPacket, nil
			}
			one, _, failed := d.leave(&d.inputs[i], 1, true)
			if err := errors.Join(err, failed); err != nil {
				return "", explain(d.program, i, &d.inputs[i], err)
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
