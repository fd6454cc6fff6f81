package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
	"github.com/org/ebpf-bench-action/runner/internal/hook"
	"github.com/org/ebpf-bench-action/runner/internal/host"
	"github.com/org/ebpf-bench-action/runner/internal/subject"
)

// onHooks resolves benchmarks of the programs in testdata, each given as a
// program and its driver.
func onHooks(t *testing.T, benchmarks ...string) (*Plan, error) {
	t.Helper()
	folder := t.TempDir()
	for _, name := range []string{"hooks.o", "target"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	text := "version: 1\nobjects: [hooks.o]\nbenchmarks:\n"
	for i, b := range benchmarks {
		program, driver, _ := strings.Cut(b, " ")
		text += fmt.Sprintf("  - {name: %d %s, program: %s, %s}\n", i, program, program, cmp.Or(driver, "budget: 1s"))
	}
	file := filepath.Join(folder, "suite.yml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := suite.Load(suite.OS, file)
	if err != nil {
		t.Fatal(err)
	}
	return NewPlan(s)
}

func measureHooks(t *testing.T, o Options, benchmarks ...string) []bench.Result {
	t.Helper()
	testenv.Root(t)
	plan, err := onHooks(t, benchmarks...)
	if err != nil {
		t.Fatal(err)
	}
	run, err := Measure(context.Background(), plan, o)
	if err != nil {
		t.Fatal(err)
	}
	haveMeasures(t, run)
	return run.Results
}

var fewRounds = Options{Rounds: 4, Loads: 2, Seed: 1}

// These work on every kernel on which tracepoints and uprobes work.
var everywhere = []string{
	"tracepoint", "tracepoint_switch", "tracepoint_raw_syscalls", "tracepoint_fault", "tracepoint_exec",
	"tracepoint_signal", "tracepoint_sock", "raw_tp", "tp_btf", "tp_btf_syscall", "iter_task", "iter_map",
	"tracepoint_exec command: {run: [./target]}",
	"user command: {attach: 'uprobe/./target:work', run: [./target]}",
	"user_return command: {attach: 'uretprobe/./target:work+0x0', run: [./target]}",
	"kprobe_read command: {attach: 'uprobe/./target:work', run: [./target]}",
	// Two programs on one hook, and one that already has another hook.
	"tracepoint", "raw_tp command: {attach: raw_tp/sys_enter}",
}

func TestProgramsRunOnTheirHooks(t *testing.T) {
	testenv.Long(t, "attaches to every kind of hook")
	results := measureHooks(t, fewRounds, everywhere...)
	if i := slices.Index(everywhere, "iter_map"); mapIteratorsForbidden(t) {
		r := results[i]
		if want := "this kernel does not let programs be attached to iter/bpf_map_elem"; !strings.Contains(r.Error, want) || !strings.Contains(r.Hint, "--kernel") {
			t.Errorf("error %q, hint %q, want %q", r.Error, r.Hint, want)
		}
		results = slices.Delete(results, i, i+1)
	}
	checkRuns(t, results)
}

// mapIteratorsForbidden reports whether this kernel forbids the smallest iterator over a
// map, though it permits one over tasks.
func mapIteratorsForbidden(t *testing.T) bool {
	t.Helper()
	loads := func(over string) error {
		p, err := ebpf.NewProgram(&ebpf.ProgramSpec{
			Type: ebpf.Tracing, AttachType: ebpf.AttachTraceIter, AttachTo: over, License: "GPL",
			Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, 0), asm.Return()},
		})
		if err == nil {
			err = p.Close()
		}
		return err
	}
	if err := loads("task"); err != nil {
		t.Fatal(err)
	}
	return errors.Is(loads("bpf_map_elem"), unix.EPERM)
}

func TestProgramsRunOnKernelFunctions(t *testing.T) {
	results := measureHooks(t, fewRounds, "kprobe_read", "kprobe_offset", "kretprobe", "kprobe_syscall", "kprobe_fault",
		"kprobe_connect", "ksyscall", "kretsyscall", "kprobe_read command: {attach: kprobe/kernel_clone}",
		"kprobe_read command: {attach: kprobe/vfs_open, load: mixture}")
	if hook.HaveKprobes() == nil {
		checkRuns(t, results)
		return
	}
	// A hook that the suite names fails, a driver chosen for it falls back to
	// loading.
	const lacks = "this kernel has no kprobes"
	for i, r := range results {
		named := i >= len(results)-2
		told := strings.Contains(strings.Join(r.Warnings, "\n"), lacks) && r.Driver == bench.DriverVerify
		failed := strings.Contains(r.Error, lacks) && strings.Contains(r.Hint, "--kernel")
		if failed != named || told == named {
			t.Errorf("%s by %s: error %q, hint %q, warnings %q", r.Benchmark, r.Driver, r.Error, r.Hint, r.Warnings)
		}
	}
}

func checkRuns(t *testing.T, results []bench.Result) {
	t.Helper()
	for _, r := range results {
		insns := r.Sample(bench.BPFInsns.Name)
		if r.Error != "" || r.Driver != bench.DriverCommand || r.Rounds.Runs() < uint64(fewRounds.Rounds) || r.Floor.Runs() == 0 ||
			insns == nil || !slices.Equal(insns.Values, []float64{5}) {
			t.Errorf("%s by %s: error %q, warnings %q, %d runs, insns %+v", r.Benchmark, r.Driver, r.Error, r.Warnings, r.Rounds.Runs(), insns)
		}
	}
}

// A program of libbpf's usdt.bpf.h reads the arguments of a static probe from a
// register, a constant and memory.
func TestStaticProbesHaveArguments(t *testing.T) {
	testenv.Root(t)
	if !host.HaveCookies() {
		t.Skip("static probes take Linux 5.15")
	}
	for probe, want := range map[string][]int64{"step": {9, -7, 10, 0}, "watched": {10, 0, 0, 0}} {
		plan, err := onHooks(t, "usdt_arguments command: {attach: 'usdt/./target:demo:"+probe+"', run: [./target]}")
		if err != nil {
			t.Fatal(err)
		}
		onThread(t, func(env *driver.Environment) {
			s, err := subject.Open(t.Context(), env, plan.Jobs[0])
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if err := s.Attach(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := s.Drive(t.Context()); err != nil {
				t.Fatal(err)
			}
			got := make([]int64, len(want))
			if err := s.Coll.Variables["arguments"].Get(&got); err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: arguments %v, %v, want %v", probe, got, err, want)
			}
		})
	}
}

// While one program has its turn on a hook, no other of the tool's is attached
// there, and afterwards none is.
func TestOneProgramAtATimeIsOnAHook(t *testing.T) {
	testenv.Root(t)
	for _, hook := range []string{"tracepoint command: {attach: tp/syscalls/sys_enter_getsid, ", "raw_tp command: {attach: raw_tp/sys_enter, "} {
		const count = 5000
		hook += fmt.Sprintf("syscall: getsid, count: %d}", count)
		plan, err := onHooks(t, hook, hook)
		if err != nil {
			t.Fatal(err)
		}
		onThread(t, func(env *driver.Environment) {
			stats, err := driver.EnableStats()
			if err != nil {
				t.Fatal(err)
			}
			defer stats.Close()
			g := newGroups(plan.Jobs, false)[0]
			defer g.close()
			g.floors[0].open(t.Context(), env)
			var round []part
			for _, tr := range g.tracks {
				tr.open(t.Context(), env)
				round = append(round, part{tr, 3})
			}
			measureRound(t.Context(), 0, round, rand.New(rand.NewPCG(1, 2)))
			g.floors[0].attached(t.Context(), func() { g.floors[0].slice(t.Context()) })
			for _, tr := range turns(round) {
				if tr.err != nil {
					t.Fatal(tr.err)
				}
				ran, err := driver.ReadCounters(tr.subject.Program)
				if err != nil {
					t.Fatal(err)
				}
				// Between two slices, orders and other processes call a hook of all
				// system calls.
				if ran.RunCnt < tr.ran || ran.RunCnt > tr.ran+count/2 || tr.ran < 4*count {
					t.Errorf("%s: the program ran %d times, and %d times in its own slices", hook, ran.RunCnt, tr.ran)
				}
			}
		})
	}
}

// What another tool attached to the hook is named, and what it only loaded is not.
func TestProgramsOfOthersOnAHookAreNamed(t *testing.T) {
	testenv.Root(t)
	const hook = "raw_tp command: {attach: raw_tp/sys_enter, syscall: getsid}"
	said := func(other string) bool {
		return slices.ContainsFunc(measureHooks(t, fewRounds, hook)[0].Warnings, func(w string) bool {
			return strings.Contains(w, "what others attached") && strings.Contains(w, other)
		})
	}
	const name = "another_tool"
	p, err := ebpf.NewProgram(&ebpf.ProgramSpec{Name: name, Type: ebpf.RawTracepoint, License: "GPL", Instructions: returns(0)})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	// Each system call runs both.
	for at, named := range map[string]bool{"sys_exit": false, "sys_enter": true} {
		l, err := link.AttachRawTracepoint(link.RawTracepointOptions{Name: at, Program: p})
		if err != nil {
			t.Fatal(err)
		}
		if said(name) != named {
			t.Errorf("a program on %s: named: %t", at, !named)
		}
		l.Close()
	}
}

func TestHooksThatNothingCalls(t *testing.T) {
	hints := []string{"load, a system call", "name another one by run"}
	for i, r := range measureHooks(t, fewRounds,
		"tracepoint command: {attach: tp/syscalls/sys_enter_vmsplice, load: faults}",
		"user command: {attach: 'uprobe/./target:_start+0x2', run: ['true']}") {
		if !strings.HasSuffix(r.Error, "not one run") || !strings.Contains(r.Hint, hints[i]) {
			t.Errorf("%s: error %q, hint %q", r.Benchmark, r.Error, r.Hint)
		}
	}
}

// Under any load, the worker reads its orders and writes its answers.
func TestHooksThatOnlyOrdersCall(t *testing.T) {
	for _, r := range measureHooks(t, fewRounds,
		"tracepoint command: {attach: tp/syscalls/sys_enter_read, load: syscalls}",
		"tracepoint command: {attach: tp/syscalls/sys_enter_write, load: faults}") {
		if strings.Contains(strings.Join(r.Warnings, "\n"), "other processes") {
			continue // they call it too often to tell, and a warning says so
		}
		if !strings.Contains(r.Error, "not one run is the load's") || !strings.Contains(r.Hint, "load, a system call") {
			t.Errorf("%s: error %q, hint %q, warnings %q", r.Benchmark, r.Error, r.Hint, r.Warnings)
		}
	}
}

func TestCommandsThatCannotRun(t *testing.T) {
	want := map[string]string{
		"tracepoint command: {attach: tp/no/such}":                                        "no tracepoint no:such",
		"raw_tp command: {attach: raw_tp/no_such}":                                        "no tracepoint no_such",
		"tracepoint command: {run: [sh, -c, 'echo lost >&2; exit 7']}":                    "run sh: exit status 7: lost",
		"tracepoint command: {run: [sh, -c, 'exec sleep 60'], timeout: 50ms}":             "run sh: it took longer than 50ms",
		"tracepoint command: {run: [no-such-command]}":                                    "no-such-command",
		"user command: {attach: 'uprobe/./target:missing', run: [./target]}":              "symbol missing: not found",
		"usdt_arguments command: {attach: 'usdt/./target:demo:missing', run: [./target]}": "",
	}
	if host.HaveCookies() {
		want["usdt_arguments command: {attach: 'usdt/./target:demo:missing', run: [./target]}"] = "it has demo:step, demo:watched"
	}
	for b, text := range want {
		if r := measureHooks(t, fewRounds, b)[0]; !strings.Contains(r.Error, text) || r.Error == "" {
			t.Errorf("%s: got %q, want %q", b, r.Error, text)
		}
	}
}

func TestCommandsThatAreRefused(t *testing.T) {
	for b, want := range map[string]string{
		"tracepoint command: {attach: kprobe/vfs_read}":               "takes programs of type kprobe",
		"tracepoint command: {syscall: reboot}":                       "may harm the machine",
		"tracepoint command: {syscall: opennat}":                      "unknown system call",
		"iter_task command: {run: ['true']}":                          "by reading it",
		"user command: {attach: 'uprobe/./target:work'}":              "say which by run",
		"user command: {run: ['true']}":                               "uprobe does not say what the program is attached to",
		"user command: {attach: 'uprobe/./gone:work', run: ['true']}": "gone: no such file",
		"user command: {attach: 'uprobe/work', run: ['true']}":        "names no code of a file",
		"tracepoint command: {run: [./gone]}":                         "gone: no such file",
		"no_target command: {}":                                       "kprobe does not say what",
	} {
		if _, err := onHooks(t, b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", b, err, want)
		}
	}
}

// A program whose section is not enough to attach it is loaded, with the
// reason.
func TestTracingProgramsWithoutAHook(t *testing.T) {
	for program, want := range map[string]string{
		"no_target": "kprobe does not say what", "user": "uprobe does not say what", "lsm_cgroup": "attached to a cgroup",
		"tail": "target of a tail call, of ",
	} {
		plan, err := onHooks(t, program)
		if err != nil {
			t.Fatal(err)
		}
		if j := plan.Jobs[0]; j.Verify == nil || !strings.Contains(strings.Join(j.Warnings, "\n"), want) {
			t.Errorf("%s: driver %s, warnings %q, want %q", program, j.Driver(), j.Warnings, want)
		}
	}
	plan, err := onHooks(t, "tail command: {attach: kprobe/vfs_read}")
	if err != nil {
		t.Fatal(err)
	}
	if j := plan.Jobs[0]; j.Command == nil || !strings.Contains(strings.Join(j.Warnings, "\n"), "on a hook of its own") {
		t.Errorf("a tail call's target on a hook: %q", j.Warnings)
	}
}

// A warning mentions runs for others on a hook of the whole machine.
func TestRunsOfOthersAreTold(t *testing.T) {
	testenv.Host(t, "two CPUs")
	done := make(chan struct{})
	defer close(done)
	go func() {
		for {
			select {
			case <-done:
				return
			default:
				os.Getppid()
			}
		}
	}()
	r := measureHooks(t, fewRounds, "tracepoint_raw_syscalls command: {count: 5}")[0]
	if text := strings.Join(r.Warnings, "\n"); !strings.Contains(text, "other processes") {
		t.Errorf("warnings %q, error %q", text, r.Error)
	}
}
