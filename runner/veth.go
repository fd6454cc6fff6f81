package runner

import (
	"errors"
	"io"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/workload"
)

// veth drives an XDP program that is attached to one end of a veth pair by
// packets from the other end.
type veth struct {
	program *ebpf.Program
	pair    *workload.Veth
	sender  workload.Sender
	count   int
	frames  int
	hold    io.Closer // nil when the program is not held
}

func newVeth(env *environment, program *ebpf.Program, j *Job) (d driver, err error) {
	v := &veth{program: program, count: j.Veth.Count, frames: len(j.Frames)}
	defer func() {
		if err != nil {
			_ = v.Close()
		}
	}()
	if v.pair, err = workload.NewVeth(j.Veth.Mode); err != nil {
		return nil, err
	}
	v.hold = env.hold(program)
	if err = v.pair.Attach(program); err != nil {
		return nil, err
	}
	sender := j.Veth.Sender
	if env.exact && sender == "" {
		// Live frames are sent by an XDP program, which the dispatcher would
		// have beside the one that is counted.
		sender = workload.SenderAFPacket
	}
	if v.sender, err = v.pair.NewSender(sender, j.Frames); err != nil {
		return nil, err
	}
	return v, nil
}

func (v *veth) drive() (driven, error) {
	before, err := readCounters(v.program)
	if err != nil {
		return driven{}, err
	}
	sent, err := v.sender.Send(v.count)
	if err != nil {
		return driven{}, err
	}
	traffic, err := v.pair.Settle(sent, func() (uint64, error) {
		now, err := readCounters(v.program)
		return now.since(before).runCnt, err
	})
	return driven{sent: sent, dropped: traffic.Dropped, sender: v.sender.Name()}, err
}

func (v *veth) trigger() (int, error) {
	_, err := v.sender.Send(v.frames)
	return v.frames, err
}

func (v *veth) detach() error { return v.pair.Detach() }

func (v *veth) resize(runs func(now int) int) {
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
