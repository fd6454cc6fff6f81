package suite

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/strictyaml"
)

// MaxName is the longest name of a benchmark in bytes, which is also the limit
// of Bencher.
const MaxName = 1024

// validator checks the meaning of a document and collects errors.
type validator struct {
	doc  *strictyaml.Doc
	errs []error
}

// errorf reports a problem at the deepest existing node on the path of mapping
// keys and sequence indices.
func (v *validator) errorf(path []any, format string, args ...any) {
	v.errs = append(v.errs, v.doc.Errorf(path, format, args...))
}

func (v *validator) suite(f *file) {
	switch {
	case f.Version == 0:
		v.errorf(nil, "version is missing: put \"version: %d\" at the top", Version)
	case f.Version != Version:
		v.errorf([]any{"version"}, "version %d is not known: this ebpf-bench reads version %d", f.Version, Version)
	}
	if len(f.Benchmarks) == 0 {
		v.errorf([]any{"benchmarks"}, "the suite has no benchmarks")
	}
	v.duration([]any{"budget"}, "budget", f.Budget, 24*time.Hour)
	if len(f.Kernels) == 0 && (v.doc.Has("kernels") || v.doc.Null("kernels")) {
		v.errorf([]any{"kernels"}, "kernels is an empty list: leave it out for the kernel that runs")
	}
	for i, name := range f.Kernels {
		if strings.TrimSpace(name) == "" {
			v.errorf([]any{"kernels", i}, "a kernel has no name")
		}
	}
	if f.Thresholds == "" && (v.doc.Has("thresholds") || v.doc.Null("thresholds")) {
		v.errorf([]any{"thresholds"}, "thresholds names no file: leave it out for the built-in thresholds")
	}
	v.names(f.Benchmarks)
	for i := range f.Benchmarks {
		v.benchmark(&f.Benchmarks[i], len(f.Objects) > 0, "benchmarks", i)
	}
}

// names refuses names that a report could not distinguish.
func (v *validator) names(benchmarks []bench.Benchmark) {
	seen := map[string]int{}
	for i, b := range benchmarks {
		at := []any{"benchmarks", i, "name"}
		switch {
		case strings.TrimSpace(b.Name) == "":
			v.errorf(at, "a benchmark has no name")
			continue
		case len(b.Name) > MaxName:
			v.errorf(at, "a name has %d bytes, the limit is %d", len(b.Name), MaxName)
			continue
		case strings.ContainsFunc(b.Name, func(r rune) bool { return !unicode.IsPrint(r) }):
			v.errorf(at, "name %q has characters that cannot be printed", b.Name)
			continue
		}
		slug := bench.Slug(b.Name)
		j, dup := seen[slug]
		switch {
		case !dup:
			seen[slug] = i
		case benchmarks[j].Name == b.Name:
			v.errorf(at, "name %q is already used in line %d", b.Name, v.doc.Line("benchmarks", j, "name"))
		default:
			v.errorf(at, "names %q and %q are both %q to a tool that keeps only letters and digits: rename one", benchmarks[j].Name, b.Name, slug)
		}
	}
}

func (v *validator) benchmark(b *bench.Benchmark, haveObjects bool, at ...any) {
	if b.Program == "" {
		v.errorf(at, "benchmark %q names no program", b.Name)
	}
	if b.Object == "" && !haveObjects {
		v.errorf(at, "benchmark %q names no object, and the suite has no objects", b.Name)
	}
	v.duration(sub(at, "budget"), "budget", b.Budget, 24*time.Hour)
	for name, m := range b.Maps {
		v.mapPrep(name, &m, sub(at, "maps", name))
	}
	for i, p := range b.Prepare {
		v.preparation(&p, sub(at, "prepare", i))
	}
	v.replace(b.Replace, sub(at, "replace"))
	v.driver(b, at)
}

// replace checks replacements of a program's functions. Which functions exist
// is known only from the objects.
func (v *validator) replace(all []bench.Replacement, at []any) {
	if len(all) == 0 && (v.doc.Has(at...) || v.doc.Null(at...)) {
		v.errorf(at, "replace is an empty list: leave it out to replace no function")
	}
	for i, r := range all {
		if r.Program == "" {
			v.errorf(sub(at, i), "a replacement names no program")
		}
	}
}

// count checks a number that has a default if the file has none.
func (v *validator) count(at []any, key string, n, limit int) {
	if n < 0 || n > limit || n == 0 && v.doc.Has(at...) {
		v.errorf(at, "%s must be from 1 to %d", key, limit)
	}
}

// duration checks a time that has a default if the file has none.
func (v *validator) duration(at []any, key string, d bench.Duration, limit time.Duration) {
	if d < 0 || d > bench.Duration(limit) || d == 0 && v.doc.Has(at...) {
		v.errorf(at, "%s must be more than 0 and at most %s", key, limit)
	}
}

// packets refuses an empty list, which hardly means the default.
func (v *validator) packets(at []any, packets []bench.Packet) {
	if len(packets) == 0 && v.doc.Has(at...) {
		v.errorf(at, "packets is an empty list: leave it out for the default packet")
	}
}

// oneOf checks a word; an empty one means the default.
func (v *validator) oneOf(at []any, key, got string, want ...string) {
	if got != "" && !slices.Contains(want, got) {
		v.errorf(at, "%s %q is not known: it is one of %s", key, got, strings.Join(want, ", "))
	}
}

func sub(at []any, more ...any) []any { return append(slices.Clone(at), more...) }
