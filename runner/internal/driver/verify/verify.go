// Package verify drives programs that are only loaded, for the figures of the verifier
// and the JIT.
package verify

import (
	"context"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
)

func init() {
	plan.Register(bench.DriverVerify, &plan.Kind{
		Open: func(context.Context, *driver.Environment, *ebpf.Program, *plan.Job) (driver.Driver, error) {
			return verified{}, nil
		},
	})
}

type verified struct{}

func (verified) Drive(context.Context) (driver.Driven, error) { return driver.Driven{}, nil }
func (verified) Close() error                                 { return nil }
