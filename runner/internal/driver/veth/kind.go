// Package veth drives programs that are attached to an interface with packets from its peer.
package veth

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/workload/vethpair"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
)

func init() {
	plan.Register(bench.DriverVeth, &plan.Kind{
		Open:  open,
		Check: check,
		Defaults: func(j *plan.Job, b *bench.Benchmark) {
			v := withDefaults(*b.Veth, j.ProgramSpec())
			b.Veth = &v
		},
		Packets: func(j *plan.Job) []bench.Packet { return j.Veth.Packets },
		Runs:    func(j *plan.Job) int { return j.Veth.Count },
		CheckInputs: func(j *plan.Job) error {
			if err := vethpair.CheckFrames(j.Frames); err != nil {
				return fmt.Errorf("packets: %w", err)
			}
			return nil
		},
		Lacks:   func(*plan.Job) bool { return isMissing(try()) },
		Instead: byTestRun,
		Alike: func(j *plan.Job) string {
			return fmt.Sprintf("veth, %s, %s, %s, %d packets", j.Veth.Mode, j.Veth.Direction, j.Veth.Sender, j.Veth.Count)
		},
		// Packets take longer than runs of test_run.
		Settle:   func(*plan.Job) (runs, most int) { return 1 << 9, 1 << 11 },
		Inputs:   func(j *plan.Job) int { return len(j.Frames) },
		NeverRan: func(*plan.Job) string { return "no packet reached the program: are the packets larger than the MTU?" },
	})
}

func check(j *plan.Job) error {
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
}

func withDefaults(v bench.Veth, p *ebpf.ProgramSpec) bench.Veth {
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
		v.Packets = plan.DefaultPackets
	}
	return v
}

// missing is the warning for a benchmark that names veth.
const missing = "this kernel has no veth interfaces: test_run drives the program instead, with the same packets"

func byTestRun(j *plan.Job) *plan.Job {
	job, b := *j, *j.Benchmark
	b.TestRun, b.Veth = &bench.TestRun{Packets: b.Veth.Packets, Repeat: b.Veth.Count}, nil
	job.Benchmark = &b
	job.Warnings = append(slices.Clip(j.Warnings), missing)
	return &job
}

// try makes a veth pair and removes it.
func try() error {
	v, err := vethpair.New(bench.XDPNative, bench.Ingress)
	if err != nil {
		return err
	}
	return v.Close()
}

// isMissing reports whether err is the kernel's for a kind of interface that it
// lacks. The job will meet any other error again.
func isMissing(err error) bool {
	return errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENODEV)
}
