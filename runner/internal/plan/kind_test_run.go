package plan

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
)

var testRunKind = Kind{
	check: checkTestRun,
	defaults: func(j *Job, b *bench.Benchmark) {
		j.AnyRuns = b.TestRun.Repeat == 0
		t := testRunDefaults(*b.TestRun, j.ProgramSpec(), b.Parallel)
		b.TestRun = &t
	},
	packets: func(j *Job) []bench.Packet {
		if !TakesPackets(j.ProgramSpec().Type) {
			return nil
		}
		return j.TestRun.Packets
	},
	runs: func(j *Job) int { return j.TestRun.Repeat },
	Alike: func(j *Job) string {
		text := fmt.Sprintf("test_run of %d", min(max(j.TestRun.Repeat/max(len(j.Frames), 1), 1), ManyRuns))
		if RunTypes[j.ProgramSpec().Type].Once {
			text = "test_run of one"
		}
		if j.Fresh != "" {
			text += ", a call for each"
		}
		if j.Parallel {
			text += " on all CPUs"
		}
		return text
	},
	neverRan: "the kernel ran it without counting: is kernel.bpf_stats_enabled reset by something else?",
}

func checkTestRun(j *Job) error {
	p := j.ProgramSpec()
	typ, ok := RunTypes[p.Type]
	switch {
	case !ok:
		return fmt.Errorf("test_run drives programs of the types %s", strings.Join(runTypesText(), ", "))
	case p.Type == ebpf.Tracing && !ofTestFunction(p):
		return fmt.Errorf("test_run of tracing programs calls the kernel's test functions, such as bpf_fentry_test1, and this one traces %s: drive it by command", p.AttachTo)
	case !typ.packets && len(j.TestRun.Packets) > 0:
		return errors.New("test_run gives it no packets, but a context")
	case typ.packets && j.TestRun.Context != nil && len(j.TestRun.Context.Args) > 0:
		return errors.New("its context is a struct, of which hex gives the bytes: args are those of a traced function")
	case p.Type == ebpf.Tracing && j.TestRun.Context != nil:
		return errors.New("the kernel chooses the arguments of its test functions: no context to give")
	}
	return nil
}

// ofTestFunction reports whether p is a tracing program for one of the
// functions that the kernel has for BPF_PROG_RUN to call.
func ofTestFunction(p *ebpf.ProgramSpec) bool {
	return p.Type == ebpf.Tracing && (strings.HasPrefix(p.AttachTo, "bpf_fentry_test") || strings.HasPrefix(p.AttachTo, "bpf_modify_return_test"))
}

// ManyRuns is the number of runs of a test_run call that is large enough to
// hide the first, slow ones.
const ManyRuns = 64

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
