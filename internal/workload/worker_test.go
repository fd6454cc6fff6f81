package workload

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
)

func init() {
	tasks["test-count"] = func(args []string) (func(int) (int, error), error) {
		if len(args) > 0 && args[0] == "refuse" {
			return nil, errors.New("refused")
		}
		return func(n int) (int, error) {
			switch n {
			case 13:
				return 0, errors.New("unlucky")
			case 99:
				os.Exit(3)
			}
			return n, nil
		}, nil
	}
}

func TestAWorkerDoesAsOftenAsTold(t *testing.T) {
	w, err := StartWorker(t.Context(), "test-count", nil, WorkerPlace{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, n := range []int{1, 5, 0, 1000} {
		if err := w.Do(t.Context(), n); err != nil {
			t.Errorf("do %d: %v", n, err)
		}
	}
	if err := w.Do(t.Context(), 13); err == nil || err.Error() != "unlucky" {
		t.Errorf("got %v of a task that fails", err)
	}
	if err := w.Do(t.Context(), 2); err != nil {
		t.Errorf("after a failure: %v", err)
	}
}

func TestAWorkerThatCannotStart(t *testing.T) {
	for task, want := range map[string]string{"test-count": "refused", "nothing": "no worker does"} {
		w, err := StartWorker(t.Context(), task, []string{"refuse"}, WorkerPlace{})
		if err == nil {
			w.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", task, err, want)
		}
	}
}

func TestAWorkerThatEndsIsTold(t *testing.T) {
	for _, tc := range []struct {
		name string
		end  func(*Worker) error
		want string
	}{
		{"by itself", func(w *Worker) error { return w.Do(t.Context(), 99) }, "the worker ended by itself: exit status 3"},
		{"killed", func(w *Worker) error { return unix.Kill(w.PID(), unix.SIGKILL) }, "the worker was killed by signal 9 (SIGKILL)"},
		{"with a trace", func(w *Worker) error { return unix.Kill(w.PID(), unix.SIGQUIT) }, "the worker ended by itself: exit status 2: SIGQUIT: quit"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w, err := StartWorker(t.Context(), "test-count", nil, WorkerPlace{})
			if err != nil {
				t.Fatal(err)
			}
			err = tc.end(w)
			for err == nil { // a signal takes a moment
				err = w.Do(t.Context(), 1)
			}
			wantError(t, err, tc.want)
			if strings.Contains(err.Error(), "goroutine") {
				t.Errorf("it has a stack: %v", err)
			}
			if bench.Hint(err) == "" {
				t.Error("it has no hint")
			}
			pid := w.PID()
			if err := w.Close(); err != nil {
				t.Error(err)
			}
			if err := unix.Kill(pid, 0); !errors.Is(err, unix.ESRCH) {
				t.Errorf("the worker is still there: %v", err)
			}
		})
	}
}

// Whatever keeps a worker, the tool need not wait for it.
func TestAnOrderEndsWithItsContext(t *testing.T) {
	file := t.TempDir() + "/pids"
	t.Setenv("PIDS", file)
	for _, tc := range []struct {
		name, task string
		args       []string
		stop       bool
	}{
		{name: "long", task: "forks"},
		{name: "stopped", task: "test-count", stop: true},
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
				waitUntil(t, "the command", func() bool {
					text, _ := os.ReadFile(file)
					return strings.Count(string(text), "\n") == 2
				})
				started = append(started, descendants(t, w.PID())...)
			}
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("got %v of an order that was cancelled", err)
			}
			if err := w.Close(); err != nil {
				t.Error(err)
			}
			waitEnded(t, started)
			if err := w.Do(t.Context(), 1); err == nil {
				t.Error("a closed worker took an order")
			}
		})
	}
}

func TestAWorkerThatDoesNotEndIsGivenUp(t *testing.T) {
	w, err := StartWorker(t.Context(), "test-count", nil, WorkerPlace{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	w.Limit = 20 * time.Millisecond
	if err := unix.Kill(w.PID(), unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := w.Do(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "did not end within 20ms") {
		t.Errorf("got %v of a worker that was stopped", err)
	}
}

// A task that is done millions of times ends with the tool all the same.
func TestAWorkerEndsAmidAnOrder(t *testing.T) {
	w, err := StartWorker(t.Context(), "forks", nil, WorkerPlace{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.orders.Encode(order{10_000_000}); err != nil {
		t.Fatal(err)
	}
	if err := w.stdin.Close(); err != nil {
		t.Fatal(err)
	}
	// Far less than so many forks take.
	late := time.AfterFunc(20*time.Second, func() { _ = w.cmd.Process.Kill() })
	_ = w.cmd.Wait()
	if !late.Stop() {
		t.Error("it went on without the tool")
	}
	w.results.Close()
}
