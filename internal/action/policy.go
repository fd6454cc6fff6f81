package action

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/judge"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/thresholds"
)

// outline is what the suite file says of the suite, whose objects need not be here.
// There is nothing in it where no suite is named, nor there by a usual name.
func (s *step) outline() (*suite.Outline, error) {
	for _, name := range s.suiteNames() {
		o, err := suite.ReadOutline(suite.OS, filepath.ToSlash(name))
		if s.in.config == "" && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		return o, err
	}
	return &suite.Outline{}, nil
}

// limits is the file of thresholds: that of the input, else the one that the suite
// names, else none.
func (s *step) limits() (string, error) {
	if s.in.thresholds != "" {
		return s.in.thresholds, nil
	}
	o, err := s.outline()
	if err != nil {
		return "", err
	}
	return filepath.FromSlash(o.Thresholds), nil
}

// policyFor is what judges results, of which missing says what is not there. A
// threshold that is for nothing of what was measured elsewhere is refused where all
// of it is there; of what was measured here, that was checked before.
func (s *step) policyFor(results *bench.Results, missing error) (*thresholds.Policy, error) {
	file, err := s.limits()
	if err != nil {
		return nil, err
	}
	if file == "" {
		return thresholds.Default(), nil
	}
	policy, err := judge.Load(file, nil)
	if err == nil && s.in.results != "" && missing == nil {
		err = policy.Check(judge.Scope(results))
	}
	return policy, err
}
