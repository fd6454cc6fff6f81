package workload

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func startWorker(t *testing.T, task string, args ...string) *Worker {
	t.Helper()
	needRoot(t)
	w, err := StartWorker(t.Context(), task, args, WorkerPlace{})
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
// the worker outlives it.
func TestEverySyscallIsMade(t *testing.T) {
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
	needRoot(t)
	for name, want := range map[string]string{"reboot": "may harm", "getpppid": "did you mean \"getppid\"?", "": "unknown"} {
		w, err := StartWorker(t.Context(), "syscalls", []string{name}, WorkerPlace{})
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
			wantError(t, w.Do(t.Context(), 1), tc.want...)
		})
	}
	needRoot(t)
	_, err := StartWorker(t.Context(), "run", []string{"10s", "no-such-command"}, WorkerPlace{})
	wantError(t, err, "no-such-command", "not found")
}

// A command that never ends ends with the tool, with what it has started.
func TestACommandEndsWithTheTool(t *testing.T) {
	needRoot(t)
	file := t.TempDir() + "/pids"
	t.Setenv("PIDS", file)
	tool := startTool(t, "run")
	var pids []int
	waitUntil(t, "the command and its child", func() bool {
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
		waitUntil(t, "the end of what the command started", func() bool { return unix.Kill(pid, 0) == unix.ESRCH })
	}
}

// runForever is a tool whose worker is in a command when it is killed.
func runForever() {
	w, err := StartWorker(context.Background(), "run", []string{"1h", "sh", "-c", "echo $$ >$PIDS; setsid sh -c 'echo $$ >>$PIDS; exec sleep 1000' & exec sleep 1000"}, WorkerPlace{})
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
