package perf

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/internal/workload/workloadtest"
)

// newCounter returns a program that does nothing. The kernel counts its runs.
func newCounter(t *testing.T) *ebpf.Program {
	t.Helper()
	testenv.Root(t)
	stats, err := ebpf.EnableStats(unix.BPF_STATS_RUN_TIME)
	if err != nil {
		t.Fatal(err)
	}
	prog, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Name:         "counter",
		Type:         ebpf.PerfEvent,
		Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, 0), asm.Return()},
		License:      "GPL",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		prog.Close()
		stats.Close()
	})
	return prog
}

func runs(t *testing.T, prog *ebpf.Program) uint64 {
	t.Helper()
	stats, err := prog.Stats()
	if err != nil {
		t.Fatal(err)
	}
	return stats.RunCount
}

// sample opens the events on the threads of a load and attaches prog.
func sample(t *testing.T, desc bench.PerfEvent, l *Load, prog *ebpf.Program) *Events {
	t.Helper()
	tids, err := l.TIDs()
	if err != nil {
		t.Fatal(err)
	}
	e, err := Open(desc, tids)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := e.Attach(prog); err != nil {
		t.Fatal(err)
	}
	return e
}

// window lets the events sample for a while, and returns the runs in that time.
func window(t *testing.T, e *Events, prog *ebpf.Program, d time.Duration) uint64 {
	t.Helper()
	before := runs(t, prog)
	if err := e.Enable(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(d)
	if err := e.Disable(); err != nil {
		t.Fatal(err)
	}
	return runs(t, prog) - before
}

func TestAProgramRunsAsOftenAsTheLoadIsSampled(t *testing.T) {
	prog := newCounter(t)
	l := startLoad(t, bench.Load{CPU: 1})
	pids, err := l.pids()
	if err != nil {
		t.Fatal(err)
	}
	for name, desc := range map[string]bench.PerfEvent{
		"frequency": {Event: "cpu-clock", Frequency: 1000},
		"period":    {Event: "task-clock", Period: 1_000_000},
		"default":   {Frequency: 1000, Scope: bench.ScopeProcess},
	} {
		t.Run(name, func(t *testing.T) {
			pause(t, l)
			e := sample(t, desc, l, prog)
			if got := window(t, e, prog, 50*time.Millisecond); got > 2 {
				t.Errorf("%d runs while the load was paused", got)
			}

			before := cpuTime(t, pids[0])
			if err := e.Enable(); err != nil {
				t.Fatal(err)
			}
			count := runs(t, prog)
			resume(t, l)
			time.Sleep(300 * time.Millisecond)
			pause(t, l)
			count = runs(t, prog) - count
			// Others may want the CPU, too, so the window's length is not the
			// measure.
			ran := cpuTime(t, pids[0]) - before
			if want := ran.Milliseconds(); int64(count) < want*8/10-5 || int64(count) > want*12/10+5 {
				t.Errorf("%d runs in %v of CPU time, want about %d", count, ran, want)
			}
			if err := e.Disable(); err != nil {
				t.Fatal(err)
			}

			count = runs(t, prog)
			resume(t, l)
			time.Sleep(50 * time.Millisecond)
			if got := runs(t, prog) - count; got != 0 {
				t.Errorf("%d runs while disabled", got)
			}
		})
	}
}

func TestASpinnerHasADeepUserStack(t *testing.T) {
	testenv.Host(t, "two CPUs")
	testenv.Root(t)
	depths, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer depths.Close()
	const buf = 256 // 32 frames
	prog, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Type: ebpf.PerfEvent,
		Instructions: asm.Instructions{
			asm.Mov.Reg(asm.R2, asm.RFP),
			asm.Add.Imm(asm.R2, -buf),
			asm.Mov.Imm(asm.R3, buf),
			asm.Mov.Imm(asm.R4, unix.BPF_F_USER_STACK),
			asm.FnGetStack.Call(),
			asm.Mov.Reg(asm.R6, asm.R0),
			asm.StoreImm(asm.RFP, -4, 0, asm.Word),
			asm.LoadMapPtr(asm.R1, depths.FD()),
			asm.Mov.Reg(asm.R2, asm.RFP),
			asm.Add.Imm(asm.R2, -4),
			asm.FnMapLookupElem.Call(),
			asm.JEq.Imm(asm.R0, 0, "exit"),
			asm.StoreMem(asm.R0, 0, asm.R6, asm.DWord),
			asm.Mov.Imm(asm.R0, 0).WithSymbol("exit"),
			asm.Return(),
		},
		License: "GPL",
	})
	if err != nil {
		t.Fatal(err)
	}
	defer prog.Close()

	l := startLoad(t, bench.Load{CPU: 1})
	e := sample(t, bench.PerfEvent{Frequency: 1000}, l, prog)
	if err := e.Enable(); err != nil {
		t.Fatal(err)
	}
	// Now and then another thread of the runtime is sampled.
	workloadtest.WaitUntil(t, "a sample with a deep stack", func() bool {
		var size int64
		return depths.Lookup(uint32(0), &size) == nil && size >= spinDepth*8
	})
}

func TestChildrenOfTheLoadAreSampled(t *testing.T) {
	prog := newCounter(t)
	l := startLoad(t, bench.Load{Command: []string{"sh", "-c", "while :; do sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done'; done"}})
	e := sample(t, bench.PerfEvent{Frequency: 1000}, l, prog)
	if err := e.Enable(); err != nil {
		t.Fatal(err)
	}
	// What the load does now ends soon.
	workloadtest.WaitUntil(t, "1000 runs", func() bool { return runs(t, prog) >= 1000 })
}

func TestAllCPUsAreSampled(t *testing.T) {
	prog := newCounter(t)
	l := startLoad(t, bench.Load{CPU: 1})
	e := sample(t, bench.PerfEvent{Frequency: 1000, Scope: bench.ScopeAll}, l, prog)
	cpus, err := onlineCPUs()
	if err != nil || len(e.fds) != len(cpus) {
		t.Errorf("%d events for CPUs %v, error %v", len(e.fds), cpus, err)
	}
	if got := window(t, e, prog, 300*time.Millisecond); got < 100 {
		t.Errorf("only %d runs in 300ms", got)
	}
}

func TestPageFaultsAreSampled(t *testing.T) {
	testenv.Host(t, "the shell and its commands")
	prog := newCounter(t)
	l := startLoad(t, bench.Load{Command: []string{"sh", "-c", "while :; do /bin/true; done"}})
	e := sample(t, bench.PerfEvent{Event: "page-faults", Period: 1}, l, prog)
	if got := window(t, e, prog, 300*time.Millisecond); got < 10 {
		t.Errorf("only %d runs in 300ms", got)
	}
}

func TestClosedPerfEventsRunNothing(t *testing.T) {
	prog := newCounter(t)
	l := startLoad(t, bench.Load{CPU: 1})
	e := sample(t, bench.PerfEvent{Frequency: 1000}, l, prog)
	if err := e.Enable(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
	before := runs(t, prog)
	time.Sleep(50 * time.Millisecond)
	if got := runs(t, prog) - before; got != 0 {
		t.Errorf("%d runs", got)
	}
}

func TestAProgramRunsAlsoWithoutALink(t *testing.T) {
	prog := newCounter(t)
	l := startLoad(t, bench.Load{CPU: 1})
	tids, err := l.TIDs()
	if err != nil {
		t.Fatal(err)
	}
	e, err := Open(bench.PerfEvent{Frequency: 1000}, tids)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for _, fd := range e.fds {
		if err := attachByIoctl(fd, prog); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Enable(); err != nil {
		t.Fatal(err)
	}
	workloadtest.WaitUntil(t, "100 runs", func() bool { return runs(t, prog) >= 100 })
}

func TestAnEventTakesOneProgram(t *testing.T) {
	prog := newCounter(t)
	l := startLoad(t, bench.Load{CPU: 1})
	e := sample(t, bench.PerfEvent{Frequency: 1000}, l, prog)
	workloadtest.WantError(t, e.Attach(prog), "attach to perf event", "file exists")
}

func TestAProgramOfAnotherTypeIsNotAttached(t *testing.T) {
	testenv.Root(t)
	prog, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Type:         ebpf.XDP,
		Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, 0), asm.Return()},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer prog.Close()
	workloadtest.WantError(t, (&Events{}).Attach(prog), "XDP", "PerfEvent")
}

func TestPerfEventsThatCannotBeOpened(t *testing.T) {
	self := []int{os.Getpid()}
	for name, tc := range map[string]struct {
		desc bench.PerfEvent
		tids []int
		want []string
		hint bool
	}{
		"unknown event":      {bench.PerfEvent{Event: "cpu-clok", Frequency: 1}, self, []string{"cpu-clok", "did you mean \"cpu-clock\"?"}, false},
		"unknown scope":      {bench.PerfEvent{Frequency: 1, Scope: "cpu"}, self, []string{`unknown scope "cpu"`}, false},
		"no rate":            {bench.PerfEvent{}, self, []string{"cpu-clock", "neither frequency nor period"}, false},
		"two rates":          {bench.PerfEvent{Frequency: 1, Period: 1}, self, []string{"exclude each other"}, false},
		"frequency too high": {bench.PerfEvent{Frequency: 1 << 40}, self, []string{"1099511627776", "kernel.perf_event_max_sample_rate"}, true},
		"no threads":         {bench.PerfEvent{Frequency: 1}, nil, []string{"no threads"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Open(tc.desc, tc.tids)
			workloadtest.WantError(t, err, append(tc.want, "open perf event")...)
			if got := bench.Hint(err); (got != "") != tc.hint {
				t.Errorf("hint is %q", got)
			}
		})
	}
}

func TestThreadsThatHaveEndedAreSkipped(t *testing.T) {
	testenv.Root(t)
	ended := 1 << 30 // more than any thread's number
	e, err := Open(bench.PerfEvent{Frequency: 1}, []int{ended, os.Getpid(), ended})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if len(e.fds) != 1 {
		t.Errorf("%d events, want 1", len(e.fds))
	}
	_, err = Open(bench.PerfEvent{Frequency: 1}, []int{ended})
	workloadtest.WantError(t, err, "no threads")
}

func TestAMachineWithoutHardwareCountersIsNamed(t *testing.T) {
	testenv.Root(t)
	if _, err := os.Stat("/sys/bus/event_source/devices/cpu"); err == nil {
		t.Skip("this machine has hardware counters")
	}
	_, err := Open(bench.PerfEvent{Event: "cycles", Frequency: 1000}, []int{os.Getpid()})
	workloadtest.WantError(t, err, "cycles", "no hardware counters")
	if bench.Hint(err) == "" {
		t.Error("no hint")
	}
}

func TestARefusedPerfEventNamesTheSysctl(t *testing.T) {
	err := explainPerfEvent(&unix.PerfEventAttr{}, unix.EACCES)
	workloadtest.WantError(t, err, "kernel.perf_event_paranoid")
	if bench.Hint(err) == "" {
		t.Error("no hint")
	}
}

func TestParseCPUs(t *testing.T) {
	for list, want := range map[string][]int{
		"0":       {0},
		"0-1":     {0, 1},
		"0-2,4,6": {0, 1, 2, 4, 6},
	} {
		if got, err := parseCPUs(list); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: got %v, error %v, want %v", list, got, err, want)
		}
	}
	for _, list := range []string{"", "a", "1-", "0,"} {
		if _, err := parseCPUs(list); err == nil {
			t.Errorf("%q: no error", list)
		}
	}
}
