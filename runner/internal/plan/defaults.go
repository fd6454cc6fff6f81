package plan

import (
	"cmp"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// SetDefaults fills in what the suite leaves to the program's type.
func (j *Job) SetDefaults() {
	b := *j.Benchmark
	switch {
	case b.TestRun != nil:
		j.AnyRuns = b.TestRun.Repeat == 0
		t := testRunDefaults(*b.TestRun, j.ProgramSpec(), b.Parallel)
		b.TestRun = &t
	case b.Veth != nil:
		v := vethDefaults(*b.Veth, j.ProgramSpec())
		b.Veth = &v
	}
	j.Benchmark = &b
}

// The default numbers of runs in a round. Where time is measured, a slice may have
// more: see runner.
const (
	ManyRepeat = 2000
	// OnceRepeat is for types with one run per call: the call takes most of its
	// time to get there and back.
	OnceRepeat = 200
	// ParallelTimes is how much more each of several CPUs does, so that the
	// time to start and end them is negligible.
	ParallelTimes = 10
)

func testRunDefaults(t bench.TestRun, p *ebpf.ProgramSpec, parallel bool) bench.TestRun {
	typ := RunTypes[p.Type]
	repeat := ManyRepeat
	if typ.Once {
		repeat = OnceRepeat
	}
	if parallel {
		repeat *= ParallelTimes
	}
	t.Repeat = cmp.Or(t.Repeat, repeat)
	switch {
	case len(t.Packets) > 0 || !typ.packets:
	case typ.lookup:
		t.Packets = []bench.Packet{{IPv4: &bench.IP{}, TCP: &bench.TCP{Flags: []string{"syn"}}}}
	default:
		t.Packets = defaultPackets
	}
	return t
}

var defaultPackets = []bench.Packet{{IPv4: &bench.IP{}, UDP: &bench.UDP{}, Sizes: bench.Sizes{64}}}

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
