package bench

import (
	"errors"
	"fmt"
	"io"
	"slices"
)

// Part is a file of results to be merged with others.
type Part struct {
	Name string
	Results
}

// DecodePart reads a file of runs or of comparisons. From one that was judged, it reads
// only what was measured.
func DecodePart(name string, r io.Reader) (*Part, error) {
	results, err := Decode(r)
	switch {
	case err != nil:
	case len(results.Explanations) > 0:
		err = errors.New("it is an explanation of ebpf-bench explain, which is not merged")
	case slices.ContainsFunc(results.Runs, func(r *Run) bool { return r.Shard == nil && len(r.Results) == 0 }):
		err = errNoResults
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return &Part{name, *results}, nil
}
