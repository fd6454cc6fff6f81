package builtin

import (
	"errors"
	"slices"
)

// newCall returns a function that makes the named system call once.
func newCall(args []string) (once func() error, err error) {
	if len(args) != 1 {
		return nil, errors.New("which system call?")
	}
	s, err := newScene()
	if err != nil {
		return nil, err
	}
	return s.call(args[0])
}

// call returns a function that makes a system call once. A call that is in no
// table gets arguments that it refuses.
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

// A prepareCall returns a function that makes a system call just once, and
// undoes its effects with other calls.
type prepareCall func(s *scene, nr uintptr) (do func())

// refused makes a call that no kernel accepts: no descriptor, address, process
// or size is all ones.
func refused(_ *scene, nr uintptr) func() {
	const none = ^uintptr(0)
	return func() { raw(nr, none, none, none, none, none, none) }
}
