package suite

import (
	"strings"
	"time"
	"unicode"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// MaxName is the longest name of a benchmark in bytes, which is also the limit
// of Bencher.
const MaxName = 1024

// suite checks the meaning of a document.
func (c *checker) suite(f *file) {
	switch {
	case f.Version == 0:
		c.Errorf("version is missing: put \"version: %d\" at the top", Version)
	case f.Version != Version:
		c.Under("version").Errorf("version %d is not known: this ebpf-bench reads version %d", f.Version, Version)
	}
	if len(f.Benchmarks) == 0 {
		c.Under("benchmarks").Errorf("the suite has no benchmarks")
	}
	c.Duration("budget", f.Budget, 24*time.Hour)
	if len(f.Kernels) == 0 && (c.Has("kernels") || c.Null("kernels")) {
		c.Under("kernels").Errorf("kernels is an empty list: leave it out for the kernel that runs")
	}
	for i, name := range f.Kernels {
		if strings.TrimSpace(name) == "" {
			c.Under("kernels", i).Errorf("a kernel has no name")
		}
	}
	if f.Thresholds == "" && (c.Has("thresholds") || c.Null("thresholds")) {
		c.Under("thresholds").Errorf("thresholds names no file: leave it out for the built-in thresholds")
	}
	c.names(f.Benchmarks)
	for i := range f.Benchmarks {
		c.under("benchmarks", i).benchmark(&f.Benchmarks[i], len(f.Objects) > 0)
	}
}

// names refuses names that a report could not distinguish.
func (c *checker) names(benchmarks []bench.Benchmark) {
	seen := map[string]int{}
	for i, b := range benchmarks {
		at := c.Under("benchmarks", i, "name")
		switch {
		case strings.TrimSpace(b.Name) == "":
			at.Errorf("a benchmark has no name")
			continue
		case len(b.Name) > MaxName:
			at.Errorf("a name has %d bytes, the limit is %d", len(b.Name), MaxName)
			continue
		case strings.ContainsFunc(b.Name, func(r rune) bool { return !unicode.IsPrint(r) }):
			at.Errorf("name %q has characters that cannot be printed", b.Name)
			continue
		}
		slug := bench.Slug(b.Name)
		j, dup := seen[slug]
		switch {
		case !dup:
			seen[slug] = i
		case benchmarks[j].Name == b.Name:
			at.Errorf("name %q is already used in line %d", b.Name, c.doc.Line("benchmarks", j, "name"))
		default:
			at.Errorf("names %q and %q are both %q to a tool that keeps only letters and digits: rename one", benchmarks[j].Name, b.Name, slug)
		}
	}
}

func (c *checker) benchmark(b *bench.Benchmark, haveObjects bool) {
	if b.Program == "" {
		c.Errorf("benchmark %q names no program", b.Name)
	}
	if b.Object == "" && !haveObjects {
		c.Errorf("benchmark %q names no object, and the suite has no objects", b.Name)
	}
	c.Duration("budget", b.Budget, 24*time.Hour)
	for name, m := range b.Maps {
		c.under("maps", name).mapPrep(name, &m)
	}
	for i, p := range b.Prepare {
		c.under("prepare", i).preparation(&p)
	}
	c.replace(b.Replace)
	c.OneOf("state", string(b.State), string(bench.StateSteady), string(bench.StateFresh))
	b.CheckDrivers(c)
}

// replace checks replacements of a program's functions. Which functions exist
// is known only from the objects.
func (c *checker) replace(all []bench.Replacement) {
	if len(all) == 0 && (c.Has("replace") || c.Null("replace")) {
		c.Under("replace").Errorf("replace is an empty list: leave it out to replace no function")
	}
	for i, r := range all {
		if r.Program == "" {
			c.Under("replace", i).Errorf("a replacement names no program")
		}
	}
}
