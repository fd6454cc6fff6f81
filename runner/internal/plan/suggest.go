package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/org/ebpf-bench-action/internal/suite"
)

// Suggest returns a suite for objects that have none: a benchmark for each
// program, with the default workload of its type. The programs of others, such
// as objects of another build, get a benchmark, too, though the suite does not
// name those files.
func Suggest(objects, others []suite.Object) (string, error) {
	entries, err := Entries(objects)
	if err != nil {
		return "", err
	}
	more, err := Entries(others)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	text.WriteString("version: 1\nobjects:\n")
	for _, o := range objects {
		fmt.Fprintf(&text, "  - %s\n", strconv.Quote(o.Path))
	}
	text.WriteString("benchmarks:\n")
	for _, e := range slices.Concat(entries, without(more, entries)) {
		if e.Untyped {
			continue
		}
		fmt.Fprintf(&text, "  - {name: %s, program: %s, %s%s: {}}\n", strconv.Quote(e.Benchmark), strconv.Quote(e.Program), e.inObject(), e.Driver)
	}
	return text.String(), nil
}

func (e *Entry) inObject() string {
	if e.Ambiguous {
		return "object: " + strconv.Quote(e.Object) + ", "
	}
	return ""
}

// without returns the entries that others lacks.
func without(entries, others []Entry) []Entry {
	return slices.DeleteFunc(entries, func(e Entry) bool {
		return slices.ContainsFunc(others, func(o Entry) bool { return o.Benchmark == e.Benchmark })
	})
}
