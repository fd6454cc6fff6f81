package plan

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/workload/vethpair"
)

var vethKind = Kind{
	defaults: func(j *Job, b *bench.Benchmark) {
		v := vethDefaults(*b.Veth, j.ProgramSpec())
		b.Veth = &v
	},
	packets: func(j *Job) []bench.Packet { return j.Veth.Packets },
	runs:    func(j *Job) int { return j.Veth.Count },
	check: func(j *Job) error {
		switch typ := j.ProgramSpec().Type; {
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
	Alike: func(j *Job) string {
		return fmt.Sprintf("veth, %s, %s, %s, %d packets", j.Veth.Mode, j.Veth.Direction, j.Veth.Sender, j.Veth.Count)
	},
	neverRan: "no packet reached the program: are the packets larger than the MTU?",
}

func vethDefaults(v bench.Veth, p *ebpf.ProgramSpec) bench.Veth {
	tc := p.Type == ebpf.SchedCLS
	tcx := p.AttachType == ebpf.AttachTCXIngress || p.AttachType == ebpf.AttachTCXEgress
	switch {
	case v.Mode != "":
	case tcx:
		v.Mode = bench.TCX
	case tc:
		v.Mode = bench.TC
	default:
		v.Mode = bench.XDPNative
	}
	if tc {
		hook := bench.Ingress
		if p.AttachType == ebpf.AttachTCXEgress {
			hook = bench.Egress
		}
		v.Direction = cmp.Or(v.Direction, hook)
	}
	// A tc program's packets are made one by one, by a socket.
	v.Count = cmp.Or(v.Count, map[bool]int{false: 20_000, true: 2000}[tc])
	if len(v.Packets) == 0 {
		v.Packets = defaultPackets
	}
	return v
}
