package drive

import (
	"context"
	"fmt"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
)

func openCommand(_ context.Context, env *Environment, p *ebpf.Program, j *plan.Job) (Driver, error) {
	h, err := j.Hook()
	if err != nil {
		return nil, err
	}
	if h.Reads() {
		return openIterator(h, p, j)
	}
	opened, err := env.open(h)
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
