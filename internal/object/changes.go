package object

import (
	"fmt"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/unit"
)

// changes collects changes of things of one kind, such as maps: the same change
// of many makes one sentence.
type changes struct {
	kind string
	of   map[change][]string // names
}

// change is a sentence without its subject, for one and for many.
type change struct{ one, many string }

// add notes a change of the named thing. A change starts with its verb, in the
// singular and the plural.
func (c *changes) add(name, one, many string) {
	if c.of == nil {
		c.of = map[change][]string{}
	}
	what := change{one, many}
	if !slices.Contains(c.of[what], name) {
		c.of[what] = append(c.of[what], name)
	}
}

// sentences returns the changes, sorted.
func (c *changes) sentences() []string {
	var all []string
	for what, names := range c.of {
		slices.Sort(names)
		if len(names) == 1 {
			all = append(all, fmt.Sprintf("%s %s %s", c.kind, names[0], what.one))
			continue
		}
		all = append(all, fmt.Sprintf("%ss %s %s", c.kind, several(names), what.many))
	}
	slices.Sort(all)
	return all
}

// several joins names for the start of a sentence: a, b and c.
func several(names []string) string {
	last := len(names) - 1
	if last > 2 {
		return unit.Few(names)
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
