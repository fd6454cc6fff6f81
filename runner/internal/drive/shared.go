package drive

import (
	"errors"
	"io"
	"slices"
)

// shared holds what the programs of an Environment use one after the other: each gets what
// the one before it opened under the same key.
type shared []sharedOne

type sharedOne struct {
	key string
	io.Closer
}

// findShared returns what is open under a key, or the zero value.
func findShared[T io.Closer](s shared, key string) (found T) {
	for _, one := range s {
		if one.key == key {
			found = one.Closer.(T)
		}
	}
	return found
}

// openShared returns what is open under a key, and opens it if nothing is.
func openShared[T io.Closer](s *shared, key string, open func() (T, error)) (T, error) {
	for _, one := range *s {
		if one.key == key {
			return one.Closer.(T), nil
		}
	}
	opened, err := open()
	if err == nil {
		*s = append(*s, sharedOne{key, opened})
	}
	return opened, err
}

// end closes one, such as a worker that did not follow an order: the next program gets
// another. It does nothing if that is closed already.
func (s *shared) end(c io.Closer) error {
	i := slices.IndexFunc(*s, func(one sharedOne) bool { return one.Closer == c })
	if i < 0 {
		return nil
	}
	*s = slices.Delete(*s, i, i+1)
	return c.Close()
}

// endAll closes all, the last first.
func (s *shared) endAll() (err error) {
	for _, one := range slices.Backward(*s) {
		err = errors.Join(err, one.Close())
	}
	*s = nil
	return err
}
