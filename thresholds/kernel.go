package thresholds

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// Kernel is a kernel to measure on: the name that it was asked for by, such as
// 6.12 or host, and its release, which is empty as long as it is not known.
// Either may be empty.
type Kernel struct{ Name, Release string }

// KernelOf is the kernel of a testbed.
func KernelOf(t *bench.Testbed) Kernel { return Kernel{Name: t.Asked, Release: t.Kernel} }

// String is the release, or else the name.
func (k Kernel) String() string {
	if k.Release != "" {
		return k.Release
	}
	return k.Name
}

// CheckKernels refuses a threshold that is for none of these kernels: it would
// be a gate that is off. What depends on a release that is not known yet is left
// for when it is.
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

// is reports whether a pattern stands for the kernel: for its release, or for the
// name that it was asked for by.
func (k Kernel) is(pattern string) bool { return pattern == k.Name || isRelease(pattern, k.Release) }

// isRelease reports whether a pattern stands for a release: a glob on the whole of
// it, or a whole beginning of it, such as 6.1.
func isRelease(pattern, release string) bool {
	return match(pattern, release) || bench.IsRelease(release, pattern)
}

// mayBe reports whether a pattern stands for the kernel, or may turn out to.
func (k Kernel) mayBe(pattern string) bool {
	switch {
	case pattern == "", pattern == k.Name, k.Release != "" && isRelease(pattern, k.Release):
		return true
	case k.Release != "":
		return false
	case !versionForm.MatchString(k.Name):
		// Only what it is the name of knows its release.
		return true
	}
	literal, _, _ := strings.Cut(strings.ReplaceAll(pattern, "?", "*"), "*")
	if literal == pattern {
		return bench.IsRelease(pattern, k.Name) || bench.IsRelease(k.Name, pattern)
	}
	return strings.HasPrefix(literal, k.Name) || strings.HasPrefix(k.Name, literal)
}

// versionForm is a name that the kernel's release begins with.
var versionForm = regexp.MustCompile(`^\d+\.\d+`)
