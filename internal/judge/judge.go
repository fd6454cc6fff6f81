// Package judge turns results, a policy and the history in the baseline into a verdict.
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

// Judge is what judges results.
type Judge struct {
	Policy *thresholds.Policy
	// Strict says that inconclusive evidence does not pass.
	Strict bool
	// Elsewhere says that the reader of the results applies thresholds of its own, as
	// Bencher does, and takes a failing command for one that could not measure: getting
	// slower is not an error.
	Elsewhere bool
	// Store is the baseline with the history, and Where its name for messages.
	Store baseline.Store
	Where string
	// Branch is the branch of runs that are judged by themselves, git's if empty.
	Branch string
}

// FileOf returns the file of thresholds to judge by: the one that was asked for, else the
// one that the suite names, else none. A stored suite names one that is not here.
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

// Missed refuses thresholds for kernels that were not measured on. asked are the requested
// kernels, whose releases may not be known yet.
func (j *Judge) Missed(asked []thresholds.Kernel, measured []*bench.Testbed) error {
	return exit.Usage(j.Policy.CheckKernels(measuredOn(asked, measured)))
}

// measuredOn returns the kernels that were measured on, and the requested ones that were
// not, whose releases may not be known yet.
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

// TestbedsOf returns the testbeds of runs.
func TestbedsOf(runs []*bench.Run) []*bench.Testbed {
	var all []*bench.Testbed
	for _, run := range runs {
		all = append(all, &run.Testbed)
	}
	return all
}

// Testbeds returns the testbeds of comparisons.
func Testbeds(comparisons []*bench.Comparison) []*bench.Testbed {
	var all []*bench.Testbed
	for _, c := range comparisons {
		all = append(all, &c.Testbed)
	}
	return all
}
