package thresholds

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// Kernel is a kernel to measure on: the name that selected it, such as 6.12 or host, and
// its release, which is empty while unknown. Either may be empty.
type Kernel struct{ Name, Release string }

// KernelOf returns the kernel of a testbed.
func KernelOf(t *bench.Testbed) Kernel { return Kernel{Name: t.Asked, Release: t.Kernel} }

// String returns the release, or else the name.
func (k Kernel) String() string {
	if k.Release != "" {
		return k.Release
	}
	return k.Name
}

// CheckKernels refuses a threshold that applies to none of these kernels: it would be a
// gate that is off. A check that depends on a release must wait until the release is
// known.
func (p *Policy) CheckKernels(kernels []Kernel) error {
	if len(kernels) == 0 {
		return nil
	}
	var errs []error
	for i := range p.Thresholds {
		pattern := p.Thresholds[i].Kernel
		if !slices.ContainsFunc(kernels, func(k Kernel) bool { return k.mayBe(pattern) }) {
			errs = append(errs, p.doc.Errorf([]any{"thresholds", i, "kernel"}, "no kernel that is measured matches %q: there are %s",
				pattern, strings.Join(kernelNames(kernels), ", ")))
		}
	}
	return errors.Join(errs...)
}

func kernelNames(kernels []Kernel) []string {
	var names []string
	for _, k := range kernels {
		names = append(names, k.String())
	}
	return names
}

// is reports whether a pattern matches the kernel: its release, or the name that selected
// it.
func (k Kernel) is(pattern string) bool { return pattern == k.Name || isRelease(pattern, k.Release) }

// isRelease reports whether a pattern matches a release: a glob on the whole release, or a
// whole beginning of it, such as 6.1.
func isRelease(pattern, release string) bool {
	return match(pattern, release) || bench.IsRelease(release, pattern)
}

// mayBe reports whether a pattern matches the kernel, or may once the release is known.
func (k Kernel) mayBe(pattern string) bool {
	switch {
	case pattern == "", pattern == k.Name, k.Release != "" && isRelease(pattern, k.Release):
		return true
	case k.Release != "":
		return false
	case !versionForm.MatchString(k.Name):
		// The name does not tell the release.
		return true
	}
	literal, _, _ := strings.Cut(strings.ReplaceAll(pattern, "?", "*"), "*")
	if literal == pattern {
		return bench.IsRelease(pattern, k.Name) || bench.IsRelease(k.Name, pattern)
	}
	return strings.HasPrefix(literal, k.Name) || strings.HasPrefix(k.Name, literal)
}

// versionForm matches a name that the kernel's release begins with.
var versionForm = regexp.MustCompile(`^\d+\.\d+`)
