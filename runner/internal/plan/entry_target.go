package plan

import (
	"slices"

	"github.com/org/ebpf-bench-action/internal/object"
)

// aim finds the program whose function the entry replaces: the first that has
// it, in the entry's own object or else in the only other one.
func (e *Entry) aim(all []Entry, objects map[string]*object.Object) {
	function := objects[e.Object].Entry(e.Program).AttachTo
	var found []*Entry
	for i := range all {
		t := &all[i]
		// A program of an unknown section has no entry.
		spec := objects[t.Object].Entry(t.Program)
		if spec != nil && !t.Replaces && len(t.Callers) == 0 && replaceable(spec, function) == nil {
			found = append(found, t)
		}
	}
	if i := slices.IndexFunc(found, func(t *Entry) bool { return t.Object == e.Object }); i >= 0 {
		e.Target = found[i]
	} else if len(found) > 0 && !slices.ContainsFunc(found, func(t *Entry) bool { return t.Object != found[0].Object }) {
		e.Target = found[0]
	}
}
