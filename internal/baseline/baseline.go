// Package baseline defines stores of earlier runs; package folder implements one in a
// folder. A store keeps and finds earlier runs together with the compiled objects that
// they measured, so that a later run can be compared with their numbers, or measured
// beside the very same objects. It knows nothing about the meaning of a number, or about
// any service that could carry a store elsewhere.
package baseline

import (
	"context"
	"errors"
)

// Store keeps runs. Commands use any store through this interface, and a run from one
// store can be saved to another. A run in a store never changes; only its tags do. All
// methods may be called by many goroutines and processes concurrently.
type Store interface {
	// Save stores a run with its objects and tags, and returns how it is filed. Saving the
	// same entry again changes nothing. Once Save has returned, the run survives a crash
	// of the machine.
	Save(ctx context.Context, e *Entry) (Meta, error)
	// List returns the runs that match a query, the newest first. It leaves out damaged
	// runs and returns them as problems.
	List(ctx context.Context, q Query) ([]Meta, []Problem, error)
	// Load returns all of a run. The error is ErrNotFound if no run has that ID, and a
	// Problem if one of its files is damaged.
	Load(ctx context.Context, id string) (*Entry, error)
	// History returns the values that the runs matching a query measured. Its time and
	// memory depend only on what it is asked for.
	History(ctx context.Context, q Query, wanted ...Series) (*History, error)
	// Tag marks a run, which Prune then keeps, and Untag removes the mark.
	Tag(ctx context.Context, id, tag string) error
	Untag(ctx context.Context, id, tag string) error
	// Prune keeps every tagged run and the newest keep runs of each branch and testbed,
	// and removes the others.
	Prune(ctx context.Context, keep int) (Pruned, error)
	// Verify reads everything and returns all problems.
	Verify(ctx context.Context) ([]Problem, error)
}

// Pruned is what Prune removed, and the problems that it found.
type Pruned struct {
	// Runs were removed.
	Runs []Meta
	// Problems are the damaged files of runs. Prune leaves these.
	Problems []Problem
}

// ErrNotFound says that a store does not have a run or object.
var ErrNotFound = errors.New("not in the baseline")

// ErrAmbiguous says that several commits begin with the given text.
var ErrAmbiguous = errors.New("ambiguous")

// Latest returns the newest run that matches a query, or ErrNotFound. It ignores other
// damage in the store.
func Latest(ctx context.Context, s Store, q Query) (Meta, error) {
	q.Limit = 1
	runs, _, err := s.List(ctx, q)
	if err != nil {
		return Meta{}, err
	}
	if len(runs) == 0 {
		return Meta{}, q.notFound()
	}
	return runs[0], nil
}
