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

// outline reads what the suite file says about the suite, whose objects need not exist
// here. It is empty if no suite is named and none has a usual name.
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

// limits returns the file of thresholds: the input's, else the suite's, else none.
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

// policyFor returns the policy that judges results; missing says which parts are absent.
// If results from elsewhere are complete, a threshold that applies to none of them is an
// error; for results measured here, that was checked earlier.
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
