package command

import (
	"context"
	"fmt"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
)

func open(_ context.Context, env *driver.Environment, p *ebpf.Program, j *plan.Job) (driver.Driver, error) {
	h, err := hookOf(j)
	if err != nil {
		return nil, err
	}
	if h.Reads() {
		return openIterator(h, p, j)
	}
	opened, err := env.Open(h)
	if err != nil {
		return nil, bench.WithHint(fmt.Errorf("attach to %s: %w", h.Section, err), bench.Hint(err))
	}
	a := &attached{env: env, command: j.Command, program: p, hook: h, opened: opened, count: 1}
	if len(j.Command.Run) > 0 {
		return a, nil
	}
	a.count = j.Command.Count
	if !isQuick(j.Command.Load) {
		return &repeated{a}, nil
	}
	return &quick{repeated: &repeated{a}}, nil
}
