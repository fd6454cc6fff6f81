package plan

import (
	"fmt"
	"path"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// nameEntries names each entry after its program; those that are not told apart
// by that after their object too, then after its folders, then by a number.
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

// slugs counts the names that are the same where only letters and digits count.
func slugs(all []Entry) map[string]int {
	taken := map[string]int{}
	for i := range all {
		taken[bench.Slug(all[i].Benchmark)]++
	}
	return taken
}

// stem is an object's path without what only says that it is one.
func stem(object string) string {
	for _, ext := range []string{".o", ".elf"} {
		if s, ok := strings.CutSuffix(object, ext); ok && path.Base(s) != "" {
			return s
		}
	}
	return object
}
