// Package baseline is what a store of earlier runs offers; those in a folder are of
// package folder. A store keeps and finds earlier runs together with the compiled
// objects that they measured, so that a later run can be compared with their
// numbers, or measured beside the very same objects. It knows nothing of what
// a number means, and of no service that could carry a store elsewhere.
package baseline

import (
	"context"
	"errors"
)

// Store keeps runs, wherever that is: it is what commands ask of any store, and
// a run that one store has can be saved to another. A run in it never changes;
// only tags come and go. All methods may be called by many goroutines and
// processes at once.
type Store interface {
	// Save stores a run with its objects and tags, and says how it is filed.
	// Saving the same entry again changes nothing. Once Save has returned, the
	// run survives a crash of the machine.
	Save(ctx context.Context, e *Entry) (Meta, error)
	// List is the runs that a query asks for, the newest first. What is damaged
	// is left out and told beside them.
	List(ctx context.Context, q Query) ([]Meta, []Problem, error)
	// Load is all of a run. It is ErrNotFound where there is none of that ID,
	// and a Problem where one of its files is damaged.
	Load(ctx context.Context, id string) (*Entry, error)
	// History is what was measured in the runs that a query asks for. It takes
	// as much time and memory as it is asked for.
	History(ctx context.Context, q Query, wanted ...Series) (*History, error)
	// Tag marks a run, which Prune then keeps, and Untag takes the mark off.
	Tag(ctx context.Context, id, tag string) error
	Untag(ctx context.Context, id, tag string) error
	// Prune keeps every tagged run and the newest of each branch and testbed,
	// as many as keep says, and removes all else.
	Prune(ctx context.Context, keep int) (Pruned, error)
	// Verify reads everything and tells all that is wrong.
	Verify(ctx context.Context) ([]Problem, error)
}

// Pruned is what Prune removed, and what it met.
type Pruned struct {
	// Runs were removed, Objects is the number of objects no run refers to any
	// more, Leftovers that of files which killed processes left behind.
	Runs      []Meta
	Objects   int
	Leftovers int
	// Problems are files that are damaged. They stay.
	Problems []Problem
}

// ErrNotFound says that a store has no such run or object.
var ErrNotFound = errors.New("not in the baseline")

// ErrAmbiguous says that the beginning of a commit stands for several commits.
var ErrAmbiguous = errors.New("ambiguous")

// Latest is the newest run that a query asks for, or ErrNotFound. What else is
// damaged in the store does not matter to it.
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
