package plan

import (
	"slices"

	"github.com/org/ebpf-bench-action/internal/suite"
)

// Programs returns the names of the entry programs of objects, each once.
func Programs(objects []suite.Object) ([]string, error) {
	parsed, err := parseObjects(objects)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, o := range parsed {
		names = append(names, o.Programs()...)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
