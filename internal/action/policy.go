package action

import (
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/judge"
	"github.com/org/ebpf-bench-action/thresholds"
)

// policyFor returns the policy that judges results; missing says which parts are absent.
// If results from elsewhere are complete, a threshold that applies to none of them is an
// error; for results measured here, that was checked earlier.
func (r *reporter) policyFor(results *bench.Results, missing error) (*thresholds.Policy, error) {
	file, err := r.in.limits()
	if err != nil {
		return nil, err
	}
	if file == "" {
		return thresholds.Default(), nil
	}
	policy, err := judge.Load(file, nil)
	if err == nil && r.in.results != "" && missing == nil {
		err = policy.Check(judge.Scope(results))
	}
	return policy, err
}
