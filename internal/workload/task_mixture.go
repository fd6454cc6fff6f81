package workload

import (
	"maps"
	"slices"
)

func init() {
	tasks["mixture"] = func([]string) (func(int) (int, error), error) {
		all, err := newMixture()
		if err != nil {
			return nil, err
		}
		return repeat(func() error {
			for _, do := range all {
				if err := do(); err != nil {
					return err
				}
			}
			return nil
		}), nil
	}
}

// newMixture is what each of the other loads does once: every system call of
// the tables, a switch to another process, a page fault, a process that starts
// and ends, a signal, and what sockets send each other.
func newMixture() (all []func() error, err error) {
	// The other process starts where the tool is, not in the scene.
	swap, err := newSwitcher()
	if err != nil {
		return nil, err
	}
	touch, err := newToucher()
	if err != nil {
		return nil, err
	}
	s, err := newNetScene()
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Concat(slices.Sorted(maps.Keys(calls)), slices.Sorted(maps.Keys(netCalls))) {
		if _, ok := syscallNumbers()[name]; !ok {
			continue // one of another architecture
		}
		call, err := s.call(name)
		if err != nil {
			return nil, err
		}
		all = append(all, call)
	}
	for _, do := range []func(){touch, newSignaller(), s.exchange} {
		all = append(all, func() error { do(); return nil })
	}
	return append(all, swap, startExit), nil
}
