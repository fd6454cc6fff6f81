// Package testrun drives programs by the kernel's own BPF_PROG_RUN.
package testrun

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
	"github.com/org/ebpf-bench-action/runner/internal/progrun"
)

func init() {
	plan.Register(bench.DriverTestRun, &plan.Kind{
		Open:    open,
		Default: takes,
		Check:   check,
		Defaults: func(j *plan.Job, b *bench.Benchmark) {
			j.AnyRuns = b.TestRun.Repeat == 0
			t := withDefaults(*b.TestRun, j.ProgramSpec(), b.Parallel)
			b.TestRun = &t
		},
		Packets: func(j *plan.Job) []bench.Packet {
			if !progrun.TakesPackets(j.ProgramSpec().Type) {
				return nil
			}
			return j.TestRun.Packets
		},
		Runs: func(j *plan.Job) int { return j.TestRun.Repeat },
		CheckInputs: func(j *plan.Job) error {
			_, err := j.Inputs()
			return err
		},
		Lacks: func(j *plan.Job) bool {
			return j.ProgramSpec().Type == ebpf.SkLookup && errors.Is(tryLookup(), ebpf.ErrNotSupported)
		},
		Instead: bySocket,
		Alike:   alike,
		Floor: func(b *bench.Benchmark) {
			// Other benchmarks share the floor, and the kernel may refuse to run it
			// with this context.
			run := *b.TestRun
			run.Context, b.TestRun = nil, &run
		},
		Settle: func(j *plan.Job) (runs, most int) {
			runs = repeatsToSettle
			if j.Fresh != "" || progrun.Types[j.ProgramSpec().Type].Once {
				runs = callsToSettle
			}
			return runs, mostGrowth * runs
		},
		Inputs:   func(j *plan.Job) int { return max(len(j.Frames), 1) },
		OnThread: true,
		NeverRan: func(*plan.Job) string {
			return "the kernel ran it without counting: is kernel.bpf_stats_enabled reset by something else?"
		},
	})
}

// takes reports whether BPF_PROG_RUN is the default for the job's program.
func takes(j *plan.Job) (bool, string) {
	p := j.ProgramSpec()
	switch p.Type {
	case ebpf.XDP:
		if p.AttachType == ebpf.AttachXDPDevMap || p.AttachType == ebpf.AttachXDPCPUMap {
			return false, "a program of a devmap or cpumap runs on the packets that another one redirects to it"
		}
		return true, ""
	case ebpf.SkLookup:
		// Its work depends on the sockets in a map.
		return !j.HasMap(ebpf.SockMap, ebpf.SockHash), ""
	case ebpf.SchedCLS, ebpf.SchedACT, ebpf.SocketFilter, ebpf.CGroupSKB,
		ebpf.LWTIn, ebpf.LWTOut, ebpf.LWTXmit, ebpf.LWTSeg6Local,
		ebpf.FlowDissector, ebpf.Netfilter, ebpf.Syscall:
		return true, ""
	}
	return ofTestFunction(p), ""
}

func check(j *plan.Job) error {
	p := j.ProgramSpec()
	typ, ok := progrun.Types[p.Type]
	switch {
	case !ok:
		return fmt.Errorf("test_run drives programs of the types %s", strings.Join(progrun.Names(), ", "))
	case p.Type == ebpf.Tracing && !ofTestFunction(p):
		return fmt.Errorf("test_run of tracing programs calls the kernel's test functions, such as bpf_fentry_test1, and this one traces %s: drive it by command", p.AttachTo)
	case !typ.Packets && len(j.TestRun.Packets) > 0:
		return errors.New("test_run gives it no packets, but a context")
	case typ.Packets && j.TestRun.Context != nil && len(j.TestRun.Context.Args) > 0:
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

func alike(j *plan.Job) string {
	text := fmt.Sprintf("test_run of %d", min(max(j.TestRun.Repeat/max(len(j.Frames), 1), 1), manyRuns))
	if progrun.Types[j.ProgramSpec().Type].Once {
		text = "test_run of one"
	}
	if j.Fresh != "" {
		text += ", a call for each"
	}
	if j.Parallel {
		text += " on all CPUs"
	}
	return text
}

// manyRuns is the number of runs of a call that is large enough to hide the first,
// slow ones.
const manyRuns = 64

// The default numbers of runs in a round. Where time is measured, a slice may
// have more: see runner.
const (
	ManyRepeat = 2000
	// OnceRepeat is for types with one run per call: the call takes most of its
	// time to get there and back.
	OnceRepeat = 200
	// ParallelTimes is how much more each of several CPUs does, so that the
	// time to start and end them is negligible.
	ParallelTimes = 10
)

const (
	// repeatsToSettle is how many runs precede those that are measured, if they can leave
	// anything to others, callsToSettle if each takes a call. While maps grow they are
	// doubled, up to mostGrowth times as many.
	repeatsToSettle, callsToSettle = 1 << 13, 1 << 11
	mostGrowth                     = 16
)

func withDefaults(t bench.TestRun, p *ebpf.ProgramSpec, parallel bool) bench.TestRun {
	typ := progrun.Types[p.Type]
	repeat := ManyRepeat
	if typ.Once {
		repeat = OnceRepeat
	}
	if parallel {
		repeat *= ParallelTimes
	}
	t.Repeat = cmp.Or(t.Repeat, repeat)
	switch {
	case len(t.Packets) > 0 || !typ.Packets:
	case typ.Lookup:
		t.Packets = []bench.Packet{{IPv4: &bench.IP{}, TCP: &bench.TCP{Flags: []string{"syn"}}}}
	default:
		t.Packets = plan.DefaultPackets
	}
	return t
}

// noLookup is the warning for a benchmark that names test_run.
const noLookup = "this kernel has no test_run for sk_lookup programs, which is there since Linux 5.13: socket drives the program instead"

func bySocket(j *plan.Job) *plan.Job {
	job, b := *j, *j.Benchmark
	b.SetDriver(bench.DriverSocket)
	b.SetDriverDefaults()
	job.Benchmark, job.Frames = &b, nil
	job.Warnings = append(slices.Clip(j.Warnings), noLookup)
	_ = job.CheckDriver() // it adds its own warnings
	return &job
}

// tryLookup runs an empty sk_lookup program. Its context is not a valid one,
// which is a different error.
func tryLookup() error {
	p, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Name: "bench_try", Type: ebpf.SkLookup, AttachType: ebpf.AttachSkLookup, License: "GPL",
		Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, 1 /* SK_PASS */), asm.Return()},
	})
	if err != nil {
		return nil // the job will say why
	}
	defer p.Close()
	_, err = p.Run(&ebpf.RunOptions{Context: make([]byte, 64)})
	return err
}
