package drive

import (
	"context"
	"fmt"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/runner/internal/plan"
)

// prepareByPrograms runs the preparations on one packet after the other. The
// kernel's repeat would run one packet many times before the next.
func prepareByPrograms(ctx context.Context, coll *ebpf.Collection, all []plan.Preparation) error {
	for _, p := range all {
		prog := coll.Programs[p.Program]
		for range p.Runs {
			for i := range p.Inputs {
				if err := ctx.Err(); err != nil {
					return err
				}
				if _, err := prog.Run(runOptions(&p.Inputs[i], 0)); err != nil {
					return fmt.Errorf("prepare by %s: %w", p.Program, explainTestRun(prog, i, &p.Inputs[i], err))
				}
			}
		}
	}
	return nil
}
