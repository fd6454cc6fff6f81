package builtin

import (
	"maps"
	"slices"
)

// newMixture returns a function that does what each of the other loads does
// once: every system call of the tables, a switch to another process, a page
// fault, a process that starts and ends, a signal, and an exchange between
// sockets.
func newMixture([]string) (once func() error, err error) {
	var all []func() error
	// The other process starts in the tool's folder, not in the scene.
	swap, err := newSwitcher(nil)
	if err != nil {
		return nil, err
	}
	touch, err := newToucher(nil)
	if err != nil {
		return nil, err
	}
	send, err := newSignaller(nil)
	if err != nil {
		return nil, err
	}
	s, err := newNetScene()
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Concat(slices.Sorted(maps.Keys(calls)), slices.Sorted(maps.Keys(netCalls))) {
		if _, ok := syscallNumbers()[name]; !ok {
			continue // a call of another architecture
		}
		call, err := s.call(name)
		if err != nil {
			return nil, err
		}
		all = append(all, call)
	}
	all = append(all, touch, send, s.exchange, swap, startExit)
	return func() error {
		for _, do := range all {
			if err := do(); err != nil {
				return err
			}
		}
		return nil
	}, nil
}
