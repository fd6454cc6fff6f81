package perf

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/workload/process"
)

// Load is work for a perf event to sample. Its processes run from the start.
// Those that it started end with it, and with the tool however that ends.
type Load struct {
	// group is the process group that the load started, or 0.
	group int
	// existing is the process that existed before, or nil.
	existing *os.Process

	supervisor *exec.Cmd
	lifeline   io.Closer
	stderr     process.StderrTail
	ended      chan struct{}
	err        error // valid once ended is closed
}

// StartLoad starts a load, or finds the process that it names.
func StartLoad(desc bench.Load) (*Load, error) {
	given := 0
	for _, is := range []bool{desc.CPU != 0, len(desc.Command) > 0, desc.PID != 0} {
		if is {
			given++
		}
	}
	switch {
	case given != 1:
		return nil, errors.New("start load: it takes exactly one of cpu, command and pid")
	case desc.CPU < 0 || desc.PID < 0:
		return nil, errors.New("start load: cpu and pid cannot be less than 1")
	case desc.PID != 0:
		return findLoad(desc.PID)
	}

	copies := strconv.Itoa(cmp.Or(desc.CPU, 1))
	l := &Load{
		supervisor: process.HelperCommand(superviseMode, append([]string{copies}, desc.Command...)...),
		ended:      make(chan struct{}),
	}
	if err := l.start(); err != nil {
		return nil, fmt.Errorf("start load: %w", err)
	}
	return l, nil
}

func findLoad(pid int) (*Load, error) {
	// If the kernel supports it, a file descriptor holds the process, so that
	// Err never mistakes a later process with the same number for it.
	p, err := os.FindProcess(pid)
	if err != nil {
		return nil, fmt.Errorf("find load: process %d: %w", pid, err)
	}
	l := &Load{existing: p}
	if l.Err() != nil {
		return nil, fmt.Errorf("find load: no process %d", pid)
	}
	return l, nil
}

// Err returns why the load has ended, or nil while it runs.
func (l *Load) Err() error {
	if l.existing != nil {
		// Another user's process refuses the signal, but exists.
		err := l.existing.Signal(unix.Signal(0))
		if errors.Is(err, os.ErrProcessDone) || errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("load ended early: no process %d any more", l.existing.Pid)
		}
		return nil
	}
	select {
	case <-l.ended:
		return l.err
	default:
		return nil
	}
}

// Pause stops the load's processes. It does not affect a process that the load
// did not start, nor one that has left the command's process group.
func (l *Load) Pause() error { return l.signal(unix.SIGSTOP) }

// Resume continues what Pause stopped.
func (l *Load) Resume() error { return l.signal(unix.SIGCONT) }

func (l *Load) signal(sig unix.Signal) error {
	if l.existing != nil {
		return nil
	}
	if err := l.Err(); err != nil {
		return err
	}
	if err := unix.Kill(-l.group, sig); err != nil {
		return l.endOr(fmt.Errorf("send %s to load: %w", unix.SignalName(sig), err))
	}
	return nil
}

// endOr returns why a load whose processes are gone has ended, if that is about
// to be known, else err.
func (l *Load) endOr(err error) error {
	select {
	case <-l.ended:
		return l.err
	case <-time.After(time.Second):
		return err
	}
}

// Explain returns why the load has ended if that caused an error of Open.
func (l *Load) Explain(err error) error {
	if l.existing != nil || !errors.Is(err, errNoThreads) {
		return err
	}
	return l.endOr(err)
}

// Close ends the processes that the load started and waits for their end. It
// may be called more than once.
func (l *Load) Close() error {
	if l.existing != nil {
		_ = l.existing.Release()
		return nil
	}
	l.lifeline.Close()
	<-l.ended
	return nil
}

// pids returns the processes of the load at this moment.
func (l *Load) pids() ([]int, error) {
	if l.existing != nil {
		return []int{l.existing.Pid}, nil
	}
	return process.List(func(s process.Stat) bool { return s.Group == l.group && s.State != 'Z' })
}

// TIDs returns the threads of the load's processes at this moment.
func (l *Load) TIDs() ([]int, error) {
	pids, err := l.pids()
	if err != nil {
		return nil, err
	}
	var tids []int
	for _, pid := range pids {
		threads, err := process.Threads(pid)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("list threads of load: %w", err)
		}
		tids = append(tids, threads...)
	}
	return tids, nil
}
