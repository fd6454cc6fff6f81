package plan

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/internal/workload/vethpair"
)

// Kind is a way to run programs. A suite selects it with a driver's key.
type Kind struct {
	// check says why programs of the job's type cannot be driven this way.
	check func(*Job) error
	// prepare, unless nil, readies the job for loading: its program, and the
	// settings that the suite leaves to it.
	prepare func(*Job, *suite.Suite) error
	// Alike identifies the benchmarks of a type that share a floor: the cost of
	// counting a run depends on how the kernel comes to call the program.
	Alike func(*Job) string
	// neverRan is the hint for a program that did not run once.
	neverRan string
}

// kinds are the ways to run a program, by the name of the driver. Verify, which
// only loads the program, is not among them.
var kinds = map[string]*Kind{
	bench.DriverTestRun:   &testRunKind,
	bench.DriverVeth:      &vethKind,
	bench.DriverPerfEvent: &perfEventKind,
	bench.DriverCgroup:    &cgroupKind,
	bench.DriverSocket:    &socketKind,
	bench.DriverCommand:   &commandKind,
}

// Kind returns how the job's program is run, or nil if it is only loaded.
func (j *Job) Kind() *Kind { return kinds[j.Driver()] }

// CheckDriver refuses a driver that cannot run the program.
func (j *Job) CheckDriver() error {
	if j.Parallel && j.TestRun == nil {
		return fmt.Errorf("parallel drives by test_run, and this is for %s", j.Driver())
	}
	k := j.Kind()
	if k == nil {
		return nil
	}
	if err := k.check(j); err != nil {
		return fmt.Errorf("program %s is of type %s: %w", j.Program, j.Type(), err)
	}
	return nil
}

// readyFor prepares the job for its driver, which can run it.
func (j *Job) readyFor(s *suite.Suite) error {
	if k := j.Kind(); k != nil && k.prepare != nil {
		return k.prepare(j, s)
	}
	return nil
}

var testRunKind = Kind{
	check: checkTestRun,
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

var vethKind = Kind{
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

var perfEventKind = Kind{
	check: func(j *Job) error {
		if j.ProgramSpec().Type != ebpf.PerfEvent {
			return errors.New("perf_event drives perf_event programs")
		}
		return nil
	},
	Alike:    func(j *Job) string { return fmt.Sprintf("perf_event %+v", *j.PerfEvent) },
	neverRan: "the event never fired: does the load do what the event counts?",
}
