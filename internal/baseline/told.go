package baseline

import "context"

// Told returns a store whose List also passes problems with its files to warn.
func Told(s Store, warn func(Problem)) Store { return &toldStore{s, warn} }

type toldStore struct {
	Store
	warn func(Problem)
}

func (s *toldStore) List(ctx context.Context, q Query) ([]Meta, []Problem, error) {
	runs, problems, err := s.Store.List(ctx, q)
	for _, p := range problems {
		s.warn(p)
	}
	return runs, problems, err
}
