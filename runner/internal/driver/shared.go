package driver

import (
	"errors"
	"io"
	"slices"
)

// shared is what the programs of an Environment use one after the other: each gets what
// the one before it opened under the same key.
type shared struct {
	key string
	io.Closer
}

// Shared returns what is open under a key, or the zero value.
func Shared[T io.Closer](e *Environment, key string) (found T) {
	for _, one := range e.shared {
		if one.key == key {
			found = one.Closer.(T)
		}
	}
	return found
}

// Share returns what is open under a key, and opens it if nothing is.
func Share[T io.Closer](e *Environment, key string, open func() (T, error)) (T, error) {
	for _, one := range e.shared {
		if one.key == key {
			return one.Closer.(T), nil
		}
	}
	opened, err := open()
	if err == nil {
		e.shared = append(e.shared, shared{key, opened})
	}
	return opened, err
}

// EndShared closes one, such as a worker that did not follow an order: the next program gets
// another. It does nothing if that is closed already.
func (e *Environment) EndShared(c io.Closer) error {
	i := slices.IndexFunc(e.shared, func(one shared) bool { return one.Closer == c })
	if i < 0 {
		return nil
	}
	e.shared = slices.Delete(e.shared, i, i+1)
	return c.Close()
}

// LeaveHooks closes the hooks and the places that programs shared, and ends their loads,
// the last first.
func (e *Environment) LeaveHooks() (err error) {
	for _, one := range slices.Backward(e.shared) {
		err = errors.Join(err, one.Close())
	}
	e.shared = nil
	return err
}

// CloseAll closes all.
func CloseAll[C io.Closer](all []C) {
	for _, c := range all {
		_ = c.Close()
	}
}
