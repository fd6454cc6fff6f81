package runner

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/workload/vethpair"
)

var vethKind = kind{
	check: func(j *Job) error {
		switch typ := j.program().Type; {
		case typ != ebpf.XDP && typ != ebpf.SchedCLS:
			return errors.New("veth drives programs of the types xdp and sched_cls")
		case typ == ebpf.SchedCLS && !j.Veth.Mode.IsTC():
			return fmt.Errorf("mode %s attaches xdp programs: tc and tcx attach this one", j.Veth.Mode)
		case typ == ebpf.XDP && j.Veth.Mode.IsTC():
			return fmt.Errorf("mode %s attaches sched_cls programs: native and generic attach this one", j.Veth.Mode)
		case typ == ebpf.XDP && j.Veth.Direction == bench.Egress:
			return errors.New("an xdp program sees what comes in: direction egress is for tc programs")
		case typ == ebpf.SchedCLS && j.Veth.Sender == vethpair.SenderLiveFrames:
			return errors.New("live_frames reach xdp programs only: tc programs get packets by af_packet")
		}
		return nil
	},
	open: newVeth,
	alike: func(j *Job) string {
		return fmt.Sprintf("veth, %s, %s, %s, %d packets", j.Veth.Mode, j.Veth.Direction, j.Veth.Sender, j.Veth.Count)
	},
	neverRan: "no packet reached the program: are the packets larger than the MTU?",
}

// veth drives a program that is attached to a veth pair by packets that one end
// sends to the other.
type veth struct {
	program *ebpf.Program
	pair    *vethpair.Pair
	sender  vethpair.Sender
	count   int
	frames  int
	hold    io.Closer // nil when the program is not held
}

func newVeth(_ context.Context, env *environment, program *ebpf.Program, j *Job) (d driver, err error) {
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
		v.hold = env.hold(program)
	}
	if err = v.pair.Attach(program); err != nil {
		return nil, err
	}
	sender := j.Veth.Sender
	if env.exact && sender == "" {
		// Live frames are sent by an XDP program, which the dispatcher would
		// have beside the one that is counted.
		sender = vethpair.SenderAFPacket
	}
	if v.sender, err = v.pair.NewSender(sender, j.Frames); err != nil {
		return nil, err
	}
	return v, nil
}

func (v *veth) drive(ctx context.Context) (driven, error) {
	before, err := readCounters(v.program)
	if err != nil {
		return driven{}, err
	}
	sent, err := v.sender.Send(ctx, v.count)
	if err != nil {
		return driven{}, err
	}
	traffic, err := v.pair.Settle(ctx, sent, func() (uint64, error) {
		now, err := readCounters(v.program)
		return now.since(before).runCnt, err
	})
	return driven{sent: sent, dropped: traffic.Dropped, sender: v.sender.Name()}, err
}

func (v *veth) trigger(ctx context.Context) (int, error) {
	_, err := v.sender.Send(ctx, v.frames)
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
