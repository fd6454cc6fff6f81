package plan

import (
	"fmt"
	"strings"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/object"
	"github.com/org/ebpf-bench-action/runner/internal/hook"
)

// NotRun is the start of the warning that says why a program is only loaded.
const NotRun = "not run: "

// ChooseDriver gives a job without a driver the default of its program's type.
// If nothing here can run the program, it is only loaded, for the figures of
// the verifier and the JIT, with the reason as a warning.
//
// called says which tail call of the same object reaches the program, or is "";
// see tailCalls.
func (j *Job) ChooseDriver(called string) {
	if j.Driver() != "" {
		j.warnOfTailCall(called)
		return
	}
	driver, why := driverIn(j.ProgramSpec(), called)
	if j.ProgramSpec().Type == ebpf.SkLookup && j.HasMap(SocketMaps...) {
		// Its work depends on the sockets in the map.
		driver = bench.DriverSocket
	}
	b := *j.Benchmark
	j.Chosen = true
	b.SetDriver(driver)
	b.SetDriverDefaults()
	j.Benchmark = &b
	if why != "" {
		j.Warnings = append(j.Warnings, NotRun+why)
	}
}

// NotRun returns why nothing runs the program of a job without a driver of its
// own, or "" if something does.
func (j *Job) NotRun() string {
	for _, w := range j.Warnings {
		if why, ok := strings.CutPrefix(w, NotRun); ok {
			return why
		}
	}
	return ""
}

// driverIn is driverOf for a program that others may call.
func driverIn(p *ebpf.ProgramSpec, called string) (driver, why string) {
	if driver, why = driverOf(p); driver == bench.DriverCommand && called != "" {
		return bench.DriverVerify, called + ": it is measured with the program that calls it"
	}
	return driver, why
}

// driverOf returns the default driver of a program and, if that only loads it,
// why nothing runs it.
func driverOf(p *ebpf.ProgramSpec) (driver, why string) {
	if ofTestFunction(p) {
		return bench.DriverTestRun, ""
	}
	switch p.Type {
	case ebpf.XDP:
		if p.AttachType == ebpf.AttachXDPDevMap || p.AttachType == ebpf.AttachXDPCPUMap {
			return bench.DriverVerify, "a program of a devmap or cpumap runs on the packets that another one redirects to it"
		}
		return bench.DriverTestRun, ""
	case ebpf.SchedCLS, ebpf.SchedACT, ebpf.SocketFilter, ebpf.CGroupSKB,
		ebpf.LWTIn, ebpf.LWTOut, ebpf.LWTXmit, ebpf.LWTSeg6Local,
		ebpf.FlowDissector, ebpf.SkLookup, ebpf.Netfilter, ebpf.Syscall:
		return bench.DriverTestRun, ""
	case ebpf.PerfEvent:
		return bench.DriverPerfEvent, ""
	case ebpf.CGroupSock, ebpf.CGroupSockAddr, ebpf.CGroupSockopt, ebpf.CGroupSysctl, ebpf.CGroupDevice, ebpf.SockOps:
		return bench.DriverCgroup, ""
	case ebpf.SkMsg, ebpf.SkSKB, ebpf.SkReuseport:
		return bench.DriverSocket, ""
	case ebpf.TracePoint, ebpf.RawTracepoint, ebpf.RawTracepointWritable, ebpf.Kprobe, ebpf.Tracing, ebpf.LSM:
		if why := notAttached(p); why != "" {
			return bench.DriverVerify, why
		}
		return bench.DriverCommand, ""
	}
	return bench.DriverVerify, whyNotRun(p)
}

// notAttached says why the section of a tracing program is not enough to attach
// it.
func notAttached(p *ebpf.ProgramSpec) string {
	h, err := hook.Parse(p.SectionName)
	switch {
	case err != nil:
		return err.Error()
	case h.Takes(p.Type) != nil:
		return fmt.Sprintf("section %s does not fit the program's type, %s: name the hook with attach", p.SectionName, object.TypeName(p.Type))
	case h.InUser:
		return "only a command calls code in user space: say which by command: {run: [COMMAND]}"
	}
	return ""
}

func whyNotRun(p *ebpf.ProgramSpec) string {
	switch p.Type {
	case ebpf.StructOps:
		return "a struct_ops program runs when the kernel uses what it implements, such as a scheduler or a congestion control"
	case ebpf.Extension:
		return "a freplace program is measured with the program whose function it replaces: name it by replace in a benchmark of that one"
	case ebpf.LircMode2:
		return "a lirc_mode2 program runs on a remote control's signals"
	}
	return "nothing here drives programs of type " + object.TypeName(p.Type)
}
