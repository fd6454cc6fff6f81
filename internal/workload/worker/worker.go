// Package worker starts processes that do a task on order, and end with the
// tool.
package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/workload/network"
	"github.com/org/ebpf-bench-action/internal/workload/process"
)

// Worker is a process of the tool that does its task a number of times on each
// order, on the CPUs of the thread that started it. It ends with the tool,
// however the tool ends.
type Worker struct {
	cmd     *exec.Cmd
	stdin   io.Closer
	orders  *json.Encoder
	answers *json.Decoder
	results *os.File
	stderr  stderrHead
	ended   sync.Once
	// Limit is how long an order may take, initially orderLimit.
	Limit time.Duration
}

// orderLimit is how long a worker may take for an order by default: a longer
// round makes no sense.
const orderLimit = 30 * time.Second

// Place is where a worker runs. The zero value is the tool's own place.
type Place struct {
	// Netns is the worker's network namespace, or nil for the tool's.
	Netns *network.Netns
	// Cgroup is an open folder of cgroup v2 in which the worker starts, or nil
	// for the tool's own. It requires Linux 5.7.
	Cgroup *os.File
	// Files are files for the worker to inherit, from descriptor 4 on.
	Files []*os.File
}

// order tells a worker how often to do its task; answer says how often it did.
// A worker answers once without an order, when it is ready.
type order struct {
	Times int `json:"times"`
}

type answer struct {
	Done int `json:"done"`
	// Took is how long the worker took, without the transfer of order and
	// answer.
	Took  time.Duration `json:"took"`
	Error string        `json:"error,omitempty"`
}

const workerMode = "work"

func init() { process.RegisterHelper(workerMode, work) }

// answersFD is where a worker writes its answers.
const answersFD = 3

// Start starts a worker of one of the tasks and waits until it is ready.
func Start(ctx context.Context, task string, args []string, at Place) (*Worker, error) {
	var cpus unix.CPUSet
	if err := unix.SchedGetaffinity(0, &cpus); err != nil {
		return nil, fmt.Errorf("start worker: %w", err)
	}
	setup, err := json.Marshal(workerSetup{Task: task, Args: args, CPUs: cpus})
	if err != nil {
		return nil, fmt.Errorf("start worker: %w", err)
	}
	w := &Worker{cmd: process.HelperCommand(workerMode, string(setup)), Limit: orderLimit}
	w.cmd.Env = append(w.cmd.Env, workerEnv...)
	w.cmd.Stderr = &w.stderr
	// An escaped process may hold standard error open.
	w.cmd.WaitDelay = workerGrace
	w.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if at.Cgroup != nil {
		w.cmd.SysProcAttr.UseCgroupFD = true
		w.cmd.SysProcAttr.CgroupFD = int(at.Cgroup.Fd())
	}
	start := w.start
	if at.Netns != nil {
		start = func() error { return at.Netns.Do(w.start) }
	}
	w.cmd.ExtraFiles = at.Files
	if err := start(); err != nil {
		return nil, fmt.Errorf("start worker: %w", err)
	}
	if _, err := w.answer(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start worker %s: %w", task, err), w.Close())
	}
	return w, nil
}

func (w *Worker) start() error {
	stdin, err := w.cmd.StdinPipe()
	if err != nil {
		return err
	}
	results, theirs, err := os.Pipe()
	if err != nil {
		return err
	}
	defer theirs.Close()
	w.cmd.ExtraFiles = append([]*os.File{theirs}, w.cmd.ExtraFiles...)
	if err := w.cmd.Start(); err != nil {
		results.Close()
		return err
	}
	w.stdin, w.results = stdin, results
	w.orders, w.answers = json.NewEncoder(stdin), json.NewDecoder(results)
	return nil
}

// PID is the worker's process ID.
func (w *Worker) PID() int { return w.cmd.Process.Pid }

// Do makes the worker do its task this many times, and waits until it has. When
// ctx is cancelled it returns at once: the worker, which may still be busy, can
// then only be closed. The same goes for Time and Try.
func (w *Worker) Do(ctx context.Context, times int) error {
	_, err := w.Time(ctx, times)
	return err
}

// Time is Do, and returns how long the task took.
func (w *Worker) Time(ctx context.Context, times int) (time.Duration, error) {
	a, err := w.try(ctx, times)
	if err == nil && a.Done != times {
		err = fmt.Errorf("worker did %d of %d", a.Done, times)
	}
	return a.Took, err
}

// Try makes the worker try to do its task this many times, and returns how
// often it succeeded.
func (w *Worker) Try(ctx context.Context, times int) (done int, err error) {
	a, err := w.try(ctx, times)
	return a.Done, err
}

func (w *Worker) try(ctx context.Context, times int) (answer, error) {
	if err := w.orders.Encode(order{times}); err != nil {
		return answer{}, w.lost(err)
	}
	return w.answer(ctx)
}

func (w *Worker) answer(ctx context.Context) (a answer, err error) {
	// A program may stop the very process that triggers it.
	if err := w.results.SetReadDeadline(time.Now().Add(w.Limit)); err != nil {
		return a, fmt.Errorf("wait for the worker: %w", err)
	}
	defer context.AfterFunc(ctx, func() { _ = w.results.SetReadDeadline(time.Now()) })()
	err = w.answers.Decode(&a)
	switch {
	case err != nil && ctx.Err() != nil:
		return a, ctx.Err()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return a, bench.WithHint(fmt.Errorf("the worker did not end within %s", w.Limit), "lower count, or see whether the program stops the process that triggers it")
	case err != nil:
		return a, w.lost(err)
	}
	if a.Error != "" {
		return a, errors.New(a.Error)
	}
	return a, nil
}
