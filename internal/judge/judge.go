// Package judge turns results, a policy and the history that the baseline has into a
// verdict.
package judge

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/thresholds"
)

// Judge is what results are judged by.
type Judge struct {
	Policy *thresholds.Policy
	// Strict says that what is inconclusive does not pass.
	Strict bool
	// Elsewhere says that whoever reads the results judges them by thresholds of his
	// own, as Bencher does, and takes a failing command for one that could not
	// measure: what got slower is not an error.
	Elsewhere bool
	// Store is the baseline, which has the history, and Where what it is called.
	Store baseline.Store
	Where string
	// Branch is that of runs that are judged by themselves, git's if it is empty.
	Branch string
}

// FileOf is the file of thresholds to judge by: the one that was asked for, else the
// one that the suite names, else none. A suite that was stored names one that is not
// here.
func FileOf(asked string, s *suite.Suite) string {
	if asked != "" || s == nil || s.Bundled {
		return asked
	}
	return filepath.FromSlash(s.ThresholdsFile())
}

// Load reads a file of thresholds.
func Load(file string, s *suite.Suite) (*thresholds.Policy, error) {
	p, err := thresholds.Load(suite.OS, filepath.ToSlash(file))
	if errors.Is(err, fs.ErrNotExist) && s != nil && filepath.FromSlash(s.ThresholdsFile()) == file {
		err = bench.WithHint(err, fmt.Sprintf("%s names it by its key thresholds", s.File))
	}
	return p, err
}

// Missed refuses thresholds for kernels that were not measured on. Asked are those
// that were to be measured on: their releases may not be known yet.
func (j *Judge) Missed(asked []thresholds.Kernel, measured []*bench.Testbed) error {
	return exit.Usage(j.Policy.CheckKernels(measuredOn(asked, measured)))
}

// measuredOn are the kernels that were measured on, and of those that were asked for
// the ones that were not: their releases may not be known yet.
func measuredOn(asked []thresholds.Kernel, measured []*bench.Testbed) []thresholds.Kernel {
	var all []thresholds.Kernel
	for _, testbed := range measured {
		all = append(all, thresholds.KernelOf(testbed))
	}
	for _, k := range asked {
		if !slices.ContainsFunc(all, func(m thresholds.Kernel) bool { return m.Name == k.Name }) {
			all = append(all, k)
		}
	}
	return all
}

// TestbedsOf are those of runs.
func TestbedsOf(runs []*bench.Run) []*bench.Testbed {
	var all []*bench.Testbed
	for _, run := range runs {
		all = append(all, &run.Testbed)
	}
	return all
}

// Testbeds are those of comparisons.
func Testbeds(comparisons []*bench.Comparison) []*bench.Testbed {
	var all []*bench.Testbed
	for _, c := range comparisons {
		all = append(all, &c.Testbed)
	}
	return all
}
