package baseline

import "context"

// Warning returns a store whose List also passes problems with its files to warn.
func Warning(s Store, warn func(Problem)) Store { return &warningStore{s, warn} }

type warningStore struct {
	Store
	warn func(Problem)
}

func (s *warningStore) List(ctx context.Context, q Query) ([]Meta, []Problem, error) {
	runs, problems, err := s.Store.List(ctx, q)
	for _, p := range problems {
		s.warn(p)
	}
	return runs, problems, err
}
