package plan

import (
	"fmt"
	"path"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// nameEntries names each entry after its program. Names that are not unique
// also get the object, then its folders, then a number.
func nameEntries(all []Entry) {
	programs := map[string]int{}
	for i := range all {
		programs[all[i].Program]++
	}
	for i := range all {
		all[i].Ambiguous = programs[all[i].Program] > 1
		all[i].Benchmark = all[i].Program
	}
	for _, longer := range []func(*Entry) string{
		func(e *Entry) string { return path.Base(stem(e.Object)) + "/" + e.Program },
		func(e *Entry) string { return strings.TrimLeft(path.Clean(stem(e.Object)), "./") + "/" + e.Program },
	} {
		taken := slugs(all)
		for i := range all {
			if taken[bench.Slug(all[i].Benchmark)] > 1 {
				all[i].Benchmark = longer(&all[i])
			}
		}
	}
	taken := slugs(all)
	for i := range all {
		name := all[i].Benchmark
		if taken[bench.Slug(name)] == 1 {
			continue
		}
		for n := 1; taken[bench.Slug(all[i].Benchmark)] > 0; n++ {
			all[i].Benchmark = fmt.Sprintf("%s-%d", name, n)
		}
		taken[bench.Slug(all[i].Benchmark)]++
	}
}

// slugs counts equal names, ignoring all but letters and digits.
func slugs(all []Entry) map[string]int {
	taken := map[string]int{}
	for i := range all {
		taken[bench.Slug(all[i].Benchmark)]++
	}
	return taken
}

// stem returns an object's path without the extension that marks it as an
// object.
func stem(object string) string {
	for _, ext := range []string{".o", ".elf"} {
		if s, ok := strings.CutSuffix(object, ext); ok && path.Base(s) != "" {
			return s
		}
	}
	return object
}
