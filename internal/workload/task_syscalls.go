package workload

import (
	"errors"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

func init() {
	tasks["syscalls"] = func(args []string) (func(int) (int, error), error) {
		if len(args) != 1 {
			return nil, errors.New("which system call?")
		}
		s, err := newScene()
		if err != nil {
			return nil, err
		}
		call, err := s.call(args[0])
		if err != nil {
			return nil, err
		}
		return repeat(call), nil
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

// alone tells whether the other end of standard input is closed.
func alone() bool {
	fds := []unix.PollFd{{Fd: int32(os.Stdin.Fd())}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n == 1 && fds[0].Revents&unix.POLLHUP != 0
}

// call is how the worker makes a system call once. One that is in no table is
// made with arguments that it refuses.
func (s *scene) call(name string) (func() error, error) {
	nr, err := syscallNumber(name)
	if err != nil {
		return nil, err
	}
	if slices.Contains(starting, name) {
		return startExit, nil
	}
	prepare := calls[name]
	if onNet := netCalls[name]; onNet != nil {
		if s.net == nil {
			if s.net, err = newLoopback(s); err != nil {
				return nil, err
			}
		}
		prepare = onNet
	}
	if prepare == nil {
		prepare = refused
	}
	do := prepare(s, nr)
	return func() error { do(); return nil }, nil
}

// A prepareCall prepares what makes a system call just once, and undoes with
// other calls what that did.
type prepareCall func(s *scene, nr uintptr) (do func())

// refused makes a call that no kernel takes: there is no descriptor, address,
// process or size that is all ones.
func refused(_ *scene, nr uintptr) func() {
	const none = ^uintptr(0)
	return func() { raw(nr, none, none, none, none, none, none) }
}
