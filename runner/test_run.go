package runner

import (
	"errors"
	"fmt"
	"io"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// testRun drives a program by BPF_PROG_RUN.
type testRun struct {
	program *ebpf.Program
	runs    []ebpf.RunOptions // one a packet
	retvals []uint32
	hold    io.Closer // nil when the program is not held
}

func newTestRun(env *environment, program *ebpf.Program, j *Job) (driver, error) {
	d := &testRun{program: program, retvals: make([]uint32, len(j.Frames))}
	for i, frame := range j.Frames {
		d.runs = append(d.runs, ebpf.RunOptions{Data: frame, Repeat: share(j.TestRun.Repeat, len(j.Frames), i)})
	}
	if program.Type() == ebpf.XDP {
		d.hold = env.hold(program)
	}
	return d, nil
}

// share is the part of n that falls to the i-th of several, at least 1.
func share(n, several, i int) uint32 {
	return uint32(max((i+1)*n/several-i*n/several, 1))
}

func (d *testRun) drive() (driven, error) {
	for i := range d.runs {
		retval, err := d.program.Run(&d.runs[i])
		if err != nil {
			return driven{}, explainTestRun(d.program, i, len(d.runs[i].Data), err)
		}
		d.retvals[i] = retval
	}
	return driven{retvals: d.retvals}, nil
}

func (d *testRun) resize(runs func(now int) int) {
	n := 0
	for _, r := range d.runs {
		n += int(r.Repeat)
	}
	each := uint32(max(runs(n)/len(d.runs), 1))
	for i := range d.runs {
		d.runs[i].Repeat = each
	}
}

func (d *testRun) Close() error {
	if d.hold == nil {
		return nil
	}
	return d.hold.Close()
}

func explainTestRun(p *ebpf.Program, packet, size int, err error) error {
	err = fmt.Errorf("test_run of packet %d (%d bytes): %w", packet+1, size, err)
	if errors.Is(err, ebpf.ErrNotSupported) {
		return bench.WithHint(err, "this kernel cannot test_run programs of type "+typeName(p.Type()))
	}
	return err
}
