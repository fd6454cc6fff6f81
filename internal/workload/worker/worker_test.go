package worker

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/workload/workloadtest"
)

func init() {
	Register("test-count", func(args []string) (func(int) (int, error), error) {
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
	})
}

func TestAWorkerDoesAsOftenAsTold(t *testing.T) {
	w, err := Start(t.Context(), "test-count", nil, Place{})
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
		w, err := Start(t.Context(), task, []string{"refuse"}, Place{})
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
			w, err := Start(t.Context(), "test-count", nil, Place{})
			if err != nil {
				t.Fatal(err)
			}
			err = tc.end(w)
			for err == nil { // a signal takes a moment
				err = w.Do(t.Context(), 1)
			}
			workloadtest.WantError(t, err, tc.want)
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

func TestAWorkerThatDoesNotEndIsGivenUp(t *testing.T) {
	w, err := Start(t.Context(), "test-count", nil, Place{})
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
