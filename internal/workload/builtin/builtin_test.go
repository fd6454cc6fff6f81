package builtin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/internal/workload/worker"
	"github.com/org/ebpf-bench-action/internal/workload/workloadtest"
)

func startWorker(t *testing.T, task string, args ...string) *worker.Worker {
	t.Helper()
	testenv.Root(t)
	w, err := worker.Start(t.Context(), task, args, worker.Place{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func TestEveryLoadIsDone(t *testing.T) {
	for _, task := range []string{"switches", "faults", "reads", "writes", "forks", "signals", "sockets", "mixture"} {
		t.Run(task, func(t *testing.T) {
			w := startWorker(t, task)
			for _, n := range []int{1, 0, 20} {
				began := time.Now()
				if err := w.Do(t.Context(), n); err != nil {
					t.Fatal(err)
				}
				t.Logf("%d in %s", n, time.Since(began))
			}
		})
	}
}

// Every system call of this machine that is not refused by name is made, and
// the worker survives it.
func TestEverySyscallIsMade(t *testing.T) {
	testenv.Long(t, "starts a process for each system call")
	for name := range syscallNumbers() {
		if slices.Contains(harmful, name) {
			continue
		}
		w := startWorker(t, "syscalls", name)
		if err := w.Do(t.Context(), 3); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		w.Close()
	}
}

func TestSyscallsThatAreNotMade(t *testing.T) {
	testenv.Root(t)
	for name, want := range map[string]string{"reboot": "may harm", "getpppid": "did you mean \"getppid\"?", "": "unknown"} {
		w, err := worker.Start(t.Context(), "syscalls", []string{name}, worker.Place{})
		if err == nil {
			w.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", name, err, want)
		}
	}
}

func TestSyscallNumbers(t *testing.T) {
	for name, want := range map[string]uintptr{
		"read": unix.SYS_READ, "openat": unix.SYS_OPENAT, "getppid": unix.SYS_GETPPID,
		"pidfd_send_signal": unix.SYS_PIDFD_SEND_SIGNAL, "openat2": unix.SYS_OPENAT2, "landlock_create_ruleset": unix.SYS_LANDLOCK_CREATE_RULESET,
	} {
		if got, err := syscallNumber(name); got != want || err != nil {
			t.Errorf("%s: got %d, %v, want %d", name, got, err, want)
		}
	}
}

func TestACommandRunsOnceAnOrder(t *testing.T) {
	marks := t.TempDir() + "/marks"
	w := startWorker(t, "run", "10s", "sh", "-c", "echo x >>"+marks)
	if err := w.Do(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(marks); string(got) != "x\nx\nx\n" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestCommandsThatFail(t *testing.T) {
	dir := t.TempDir()
	script := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, tc := range map[string]struct {
		args []string
		want []string
	}{
		"exit code": {[]string{"10s", "sh", "-c", "echo out of luck >&2; exit 3"}, []string{"run sh", "exit status 3", "out of luck"}},
		"signal":    {[]string{"10s", "sh", "-c", "kill -9 $$"}, []string{"signal: killed"}},
		"too long":  {[]string{"100ms", "sh", "-c", "echo waiting >&2; sleep infinity"}, []string{"longer than 100ms", "waiting"}},
		"no shell":  {[]string{"10s", script("no shell", "#!/no/such/shell\n")}, []string{"#! line names", "no such file"}},
		"no script": {[]string{"10s", script("no script", "echo hi\n")}, []string{"begins with #!", "exec format error"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := startWorker(t, "run", tc.args...)
			workloadtest.WantError(t, w.Do(t.Context(), 1), tc.want...)
		})
	}
	testenv.Root(t)
	_, err := worker.Start(t.Context(), "run", []string{"10s", "no-such-command"}, worker.Place{})
	workloadtest.WantError(t, err, "no-such-command", "not found")
}

// A command that never ends is ended with the tool, and so is what it started.
func TestACommandEndsWithTheTool(t *testing.T) {
	testenv.Root(t)
	file := t.TempDir() + "/pids"
	t.Setenv("PIDS", file)
	tool := workloadtest.StartTool(t, "run")
	var pids []int
	workloadtest.WaitUntil(t, "the command and its child", func() bool {
		text, _ := os.ReadFile(file)
		pids = nil
		for _, field := range strings.Fields(string(text)) {
			var pid int
			if _, err := fmt.Sscan(field, &pid); err != nil {
				t.Fatal(err)
			}
			pids = append(pids, pid)
		}
		return len(pids) == 2
	})
	if err := tool.Kill(); err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids {
		workloadtest.WaitUntil(t, "the end of what the command started", func() bool { return unix.Kill(pid, 0) == unix.ESRCH })
	}
}

// runForever is a tool whose worker is in a command when it is killed.
func runForever() {
	w, err := worker.Start(context.Background(), "run", []string{"1h", "sh", "-c", "echo $$ >$PIDS; setsid sh -c 'echo $$ >>$PIDS; exec sleep 1000' & exec sleep 1000"}, worker.Place{})
	if err != nil {
		panic(err)
	}
	go func() { _ = w.Do(context.Background(), 1) }()
}

func TestNothingOutlivesACommand(t *testing.T) {
	file := t.TempDir() + "/pid"
	for _, start := range []string{
		"sleep 60 & echo $! >" + file,
		"setsid sh -c 'echo $$ >" + file + "; exec sleep 60' & while ! [ -s " + file + " ]; do sleep 0.01; done",
	} {
		os.Remove(file)
		w := startWorker(t, "run", "10s", "sh", "-c", start)
		if err := w.Do(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(file)
		var pid int
		if _, scan := fmt.Sscan(string(text), &pid); err != nil || scan != nil {
			t.Fatal(err, scan)
		}
		if err := unix.Kill(pid, 0); err != unix.ESRCH {
			t.Errorf("%s: process %d is still there: %v", start, pid, err)
		}
	}
}

// Whatever blocks a worker, the tool need not wait for it.
func TestAnOrderEndsWithItsContext(t *testing.T) {
	file := t.TempDir() + "/pids"
	t.Setenv("PIDS", file)
	for _, tc := range []struct {
		name, task string
		args       []string
		stop       bool
	}{
		{name: "long", task: "forks"},
		{name: "stopped", task: "signals", stop: true},
		{name: "command", task: "run", args: []string{"1h", "sh", "-c", "echo $$ >$PIDS; setsid sh -c 'echo $$ >>$PIDS; exec sleep 1000' & exec sleep 1000"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := startWorker(t, tc.task, tc.args...)
			if tc.stop {
				if err := unix.Kill(w.PID(), unix.SIGSTOP); err != nil {
					t.Fatal(err)
				}
			}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() { ended <- w.Do(ctx, 10_000_000) }()
			started := []int{w.PID()}
			if tc.task == "run" {
				workloadtest.WaitUntil(t, "the command", func() bool {
					text, _ := os.ReadFile(file)
					return strings.Count(string(text), "\n") == 2
				})
				started = append(started, workloadtest.Descendants(t, w.PID())...)
			}
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("got %v of an order that was cancelled", err)
			}
			if err := w.Close(); err != nil {
				t.Error(err)
			}
			workloadtest.WaitEnded(t, started)
			if err := w.Do(t.Context(), 1); err == nil {
				t.Error("a closed worker took an order")
			}
		})
	}
}

// A task that is done millions of times still ends with the tool.
func TestALoadEndsAmidAnOrder(t *testing.T) {
	testenv.Root(t)
	tool := workloadtest.StartTool(t, "faults")
	started := workloadtest.Descendants(t, tool.Pid)
	if len(started) == 0 {
		t.Fatal("no worker")
	}
	if err := tool.Kill(); err != nil {
		t.Fatal(err)
	}
	workloadtest.WaitEnded(t, started)
}

// faultForever is a tool whose worker is amid an order, for hours, when it is killed.
func faultForever() {
	w := workloadtest.Must(worker.Start(context.Background(), "faults", nil, worker.Place{}))
	go func() { _ = w.Do(context.Background(), 1<<40) }()
	for { // the order is under way once the worker is busy
		text := workloadtest.Must(os.ReadFile(fmt.Sprintf("/proc/%d/stat", w.PID())))
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')'):]))
		if minor := workloadtest.Must(strconv.Atoi(fields[8])); minor > 100_000 {
			return
		}
		time.Sleep(time.Millisecond)
	}
}
