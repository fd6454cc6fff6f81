// Package builtin has the worker tasks that make a load for tracing programs:
// system calls and other work of a kernel for a process, and commands that run
// to their end. They change only what belongs to the worker.
package builtin

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/workload/worker"
)

// loads are the tasks, each by the function that prepares doing it once.
var loads = map[string]func(args []string) (once func() error, err error){
	"syscalls": newCall,
	"reads":    func([]string) (func() error, error) { return newCall([]string{"pread64"}) },
	"writes":   func([]string) (func() error, error) { return newCall([]string{"pwrite64"}) },
	"switches": newSwitcher,
	"faults":   newToucher,
	"forks":    newForker,
	"signals":  newSignaller,
	"sockets":  newTalker,
	"mixture":  newMixture,
	"run":      newCommand,
}

func init() {
	for name, prepare := range loads {
		worker.Register(name, func(args []string) (func(int) (int, error), error) {
			once, err := prepare(args)
			return repeat(once), err
		})
	}
}

// glance is how often a task is done before the worker checks whether the tool
// still exists. It exceeds the default count of any load, so that no
// measurement includes the check.
const glance = 2048

// errAlone says that the tool has ended.
var errAlone = errors.New("the tool has ended")

// repeat makes a task that calls once repeatedly. It ends with the tool, which
// may have asked for millions.
func repeat(once func() error) func(int) (int, error) {
	return func(times int) (int, error) {
		for done := range times {
			if done%glance == glance-1 && alone() {
				return done, errAlone
			}
			if err := once(); err != nil {
				return done, err
			}
		}
		return times, nil
	}
}

// alone reports whether the other end of standard input is closed.
func alone() bool {
	fds := []unix.PollFd{{Fd: int32(os.Stdin.Fd())}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n == 1 && fds[0].Revents&unix.POLLHUP != 0
}
