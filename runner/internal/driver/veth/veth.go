package veth

import (
	"context"
	"errors"
	"io"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/workload/vethpair"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
)

// veth drives a program that is attached to a veth pair with packets that one
// end sends to the other.
type veth struct {
	program *ebpf.Program
	pair    *vethpair.Pair
	sender  vethpair.Sender
	count   int
	frames  int
	hold    io.Closer // nil when the program is not held
}

func open(_ context.Context, env *driver.Environment, program *ebpf.Program, j *plan.Job) (d driver.Driver, err error) {
	v := &veth{program: program, count: j.Veth.Count, frames: len(j.Frames)}
	defer func() {
		if err != nil {
			_ = v.Close()
		}
	}()
	if v.pair, err = vethpair.New(j.Veth.Mode, j.Veth.Direction); err != nil {
		return nil, err
	}
	if program.Type() == ebpf.XDP {
		v.hold = env.Hold(program)
	}
	if err = v.pair.Attach(program); err != nil {
		return nil, err
	}
	sender := j.Veth.Sender
	if env.Exact && sender == "" {
		// An XDP program sends live frames, and the dispatcher would hold it
		// next to the one that is counted.
		sender = vethpair.SenderAFPacket
	}
	if v.sender, err = v.pair.NewSender(sender, j.Frames); err != nil {
		return nil, err
	}
	return v, nil
}

func (v *veth) Drive(ctx context.Context) (driver.Driven, error) {
	before, err := driver.ReadCounters(v.program)
	if err != nil {
		return driver.Driven{}, err
	}
	sent, err := v.sender.Send(ctx, v.count)
	if err != nil {
		return driver.Driven{}, err
	}
	traffic, err := v.pair.Settle(ctx, sent, func() (uint64, error) {
		now, err := driver.ReadCounters(v.program)
		return now.Since(before).RunCnt, err
	})
	return driver.Driven{Sent: sent, Dropped: traffic.Dropped, Sender: v.sender.Name()}, err
}

func (v *veth) Trigger(ctx context.Context) (int, error) {
	_, err := v.sender.Send(ctx, v.frames)
	return v.frames, err
}

func (v *veth) Detach() error { return v.pair.Detach() }

func (v *veth) Resize(runs func(now int) int) {
	v.count = max(runs(v.count)/v.frames, 1) * v.frames
}

func (v *veth) Close() error {
	var errs []error
	if v.sender != nil {
		errs = append(errs, v.sender.Close())
	}
	if v.pair != nil {
		errs = append(errs, v.pair.Close())
	}
	if v.hold != nil {
		errs = append(errs, v.hold.Close())
	}
	return errors.Join(errs...)
}
