// Package builtin has the tasks of a worker that make a load for programs that trace:
// system calls and what else a kernel does for a process, and commands that are run to
// their end. They change nothing but what is the worker's own.
package builtin

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/workload/worker"
)

// loads are the tasks, each by what prepares to do it once.
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

// glance is how often a task is done before the worker looks whether the tool is
// still there: more often than the default of any load, so that no measurement
// has the look in it.
const glance = 2048

// errAlone says that the tool has ended.
var errAlone = errors.New("the tool has ended")

// repeat makes a task of what is done once. It ends with the tool, which may have
// asked for millions.
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
