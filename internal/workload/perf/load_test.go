package perf

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/internal/workload/process"
	"github.com/org/ebpf-bench-action/internal/workload/workloadtest"
)

func startLoad(t *testing.T, desc bench.Load) *Load {
	t.Helper()
	l, err := StartLoad(desc)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// cpuTime returns how long a process has been on a CPU: accurate to a tick
// while it runs, and exact while it is stopped.
func cpuTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	workloadtest.NeedFile(t, "/proc/self/schedstat")
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", pid))
	if err != nil {
		t.Fatal(err)
	}
	ns, err := strconv.ParseInt(strings.Fields(string(text))[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return time.Duration(ns)
}

// pause waits until the load has really stopped, since sending the signal does
// not.
func pause(t *testing.T, l *Load) {
	t.Helper()
	if err := l.Pause(); err != nil {
		t.Fatal(err)
	}
	pids, err := l.pids()
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids {
		workloadtest.WaitUntil(t, "a stopped process", func() bool {
			stat, err := process.ReadStat(pid)
			return err == nil && stat.State == 'T'
		})
	}
}

func resume(t *testing.T, l *Load) {
	t.Helper()
	if err := l.Resume(); err != nil {
		t.Fatal(err)
	}
}

func TestALoadBurnsCPUOnlyWhileItIsNotPaused(t *testing.T) {
	l := startLoad(t, bench.Load{CPU: 1})
	pids, err := l.pids()
	if err != nil || len(pids) != 1 {
		t.Fatalf("processes %v, error %v, want one", pids, err)
	}

	pause(t, l)
	before := cpuTime(t, pids[0])
	time.Sleep(100 * time.Millisecond)
	if got := cpuTime(t, pids[0]) - before; got != 0 {
		t.Errorf("burnt %v while paused", got)
	}

	resume(t, l)
	workloadtest.WaitUntil(t, "100ms of CPU time", func() bool {
		return cpuTime(t, pids[0])-before >= 100*time.Millisecond
	})
	if err := l.Err(); err != nil {
		t.Error(err)
	}
}

func TestASpinnerDoesNoSystemCalls(t *testing.T) {
	testenv.Host(t, "two CPUs")
	l := startLoad(t, bench.Load{CPU: 1})
	pids, err := l.pids()
	if err != nil {
		t.Fatal(err)
	}
	// The thread leaves the CPU by itself only in a system call.
	voluntary := func() string {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/status", pids[0], pids[0]))
		if err != nil {
			t.Fatal(err)
		}
		_, count, _ := strings.Cut(string(text), "\nvoluntary_ctxt_switches:")
		count, _, _ = strings.Cut(count, "\n")
		return strings.TrimSpace(count)
	}
	before := voluntary()
	time.Sleep(200 * time.Millisecond)
	if after := voluntary(); after != before {
		t.Errorf("voluntary context switches went from %s to %s", before, after)
	}
	if name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pids[0])); string(name) != "ebpf-bench-spin\n" {
		t.Errorf("named %q", name)
	}
}

func TestALoadHasAsManyProcessesAsAskedFor(t *testing.T) {
	l := startLoad(t, bench.Load{CPU: 3})
	pids, err := l.pids()
	if err != nil || len(pids) != 3 {
		t.Fatalf("processes %v, error %v, want three", pids, err)
	}
	tids, err := l.TIDs()
	if err != nil || len(tids) < 3 {
		t.Fatalf("threads %v, error %v, want three or more", tids, err)
	}
	l.Close()
	workloadtest.WaitEnded(t, pids)
	if pids, err := l.pids(); len(pids) != 0 {
		t.Errorf("processes %v, error %v after the load was closed", pids, err)
	}
	if err := l.Close(); err != nil {
		t.Error("second close:", err)
	}
}

func TestACommandIsALoadWithItsChildren(t *testing.T) {
	// Both in the background, for which a shell forks. What it waits for it may
	// start by vfork, and a child stopped before its execve keeps the shell in
	// state D.
	l := startLoad(t, bench.Load{Command: []string{"sh", "-c", "sleep 1000 & sleep 1000 & wait"}})
	var pids []int
	workloadtest.WaitUntil(t, "three processes", func() bool {
		var err error
		if pids, err = l.pids(); err != nil {
			t.Fatal(err)
		}
		return len(pids) == 3
	})
	pause(t, l)
	l.Close() // of a load that is paused
	workloadtest.WaitEnded(t, pids)
}

func TestACommandThatEndsEarlyIsAnErrorWithItsLastWords(t *testing.T) {
	for name, tc := range map[string]struct {
		script string
		want   []string
	}{
		"exit status": {"for i in 1 2 3 4 5 6 7; do echo line $i >&2; done; exit 3", []string{"exit status 3", ": line 3; line 4; line 5; line 6; line 7"}},
		"signal":      {"kill -9 $$", []string{"signal: killed"}},
		"success":     {"exit 0", []string{"ended early", "exit status 0"}},
		"in children": {"sleep 1000 & exec sh -c 'echo gone >&2; exit 4'", []string{"exit status 4: gone"}},
	} {
		t.Run(name, func(t *testing.T) {
			l := startLoad(t, bench.Load{Command: []string{"sh", "-c", tc.script}})
			workloadtest.WaitUntil(t, "the end of the command", func() bool { return l.Err() != nil })
			workloadtest.WantError(t, l.Err(), tc.want...)
			workloadtest.WantError(t, l.Resume(), tc.want...)
			workloadtest.WantError(t, l.Explain(fmt.Errorf("open: %w", errNoThreads)), tc.want...)
		})
	}
}

func TestALoadThatCannotStart(t *testing.T) {
	noShell := filepath.Join(t.TempDir(), "no-shell")
	if err := os.WriteFile(noShell, []byte("#!/no/such/shell\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		desc bench.Load
		want string
	}{
		"nothing":         {bench.Load{}, "exactly one of cpu, command and pid"},
		"two":             {bench.Load{CPU: 1, PID: 1}, "exactly one of cpu, command and pid"},
		"negative":        {bench.Load{CPU: -1}, "less than 1"},
		"negative pid":    {bench.Load{PID: -1}, "less than 1"},
		"no such command": {bench.Load{Command: []string{"no-such-command"}}, "executable file not found"},
		"not executable":  {bench.Load{Command: []string{"/dev/null"}}, "permission denied"},
		"no shell":        {bench.Load{Command: []string{noShell}}, "#! line names"},
		"no such process": {bench.Load{PID: 1 << 30}, "no process 1073741824"},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := StartLoad(tc.desc)
			if err == nil {
				l.Close()
			}
			workloadtest.WantError(t, err, tc.want)
		})
	}
}

func TestAnExistingProcessIsLeftAlone(t *testing.T) {
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	pid := cmd.Process.Pid

	l := startLoad(t, bench.Load{PID: pid})
	for _, do := range []func() error{l.Pause, l.Resume, l.Pause, l.Err} {
		if err := do(); err != nil {
			t.Error(err)
		}
	}
	if stat, err := process.ReadStat(pid); err != nil || stat.State == 'T' {
		t.Errorf("state is %c, error %v", stat.State, err)
	}
	if tids, err := l.TIDs(); err != nil || len(tids) != 1 || tids[0] != pid {
		t.Errorf("threads are %v, error %v", tids, err)
	}

	cmd.Process.Kill()
	cmd.Wait()
	workloadtest.WantError(t, l.Err(), "ended early", strconv.Itoa(pid))
}

// holdCommandLoad is a command with a child in its group, one in another
// session, and one there whose parent has ended.
func holdCommandLoad() {
	dir := os.Getenv("EBPF_BENCH_TEST_DIR")
	l := workloadtest.Must(StartLoad(bench.Load{Command: []string{"sh", "-c", `
		sleep 1000 &
		setsid sh -c 'trap "" TERM HUP; sleep 1000 & touch "$0"/session; wait' "$1" &
		sh -c 'setsid sleep 1000 &'
		touch "$1"/ready
		wait`, "sh", dir}}))
	for _, name := range []string{"ready", "session"} {
		for {
			if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
				break
			}
			workloadtest.Check(l.Err())
			time.Sleep(time.Millisecond)
		}
	}
}

func holdSpinLoad() {
	l := workloadtest.Must(StartLoad(bench.Load{CPU: 2}))
	workloadtest.Check(l.Pause()) // a stopped process must not outlive the tool either
}

func TestNothingOfALoadOutlivesAToolThatIsKilled(t *testing.T) {
	testenv.Host(t, "two CPUs")
	for tool, want := range map[string]int{
		"command": 6, // the supervisor, sh, its sleep, the session's sh and sleep, the orphan
		"spin":    3, // the supervisor and two spinners
	} {
		t.Run(tool, func(t *testing.T) {
			t.Setenv("EBPF_BENCH_TEST_DIR", t.TempDir())
			p := workloadtest.StartTool(t, tool)
			var pids []int
			workloadtest.WaitUntil(t, fmt.Sprintf("%d processes", want), func() bool {
				pids = workloadtest.Descendants(t, p.Pid)
				return len(pids) >= want
			})
			p.Kill()
			workloadtest.WaitEnded(t, pids)
		})
	}
}

func TestASupervisorThatIsKilledTakesItsSpinnersAlong(t *testing.T) {
	testenv.Host(t, "two CPUs")
	l := startLoad(t, bench.Load{CPU: 2})
	pids, err := l.pids()
	if err != nil {
		t.Fatal(err)
	}
	l.supervisor.Process.Signal(unix.SIGTERM) // which it does not heed
	resume(t, l)
	l.supervisor.Process.Kill()
	workloadtest.WaitEnded(t, pids)
	workloadtest.WaitUntil(t, "the error", func() bool { return l.Err() != nil })
	workloadtest.WantError(t, l.Err(), "signal: killed")
}
