package subject

import (
	"context"
	"fmt"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/runner/internal/driver/testrun"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
)

// prepareByPrograms runs the preparations on one packet after the other. The
// kernel's repeat would run one packet many times before the next.
func prepareByPrograms(ctx context.Context, coll *ebpf.Collection, all []plan.Preparation) error {
	for _, p := range all {
		for range p.Runs {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := testrun.Once(coll.Programs[p.Program], p.Inputs); err != nil {
				return fmt.Errorf("prepare by %s: %w", p.Program, err)
			}
		}
	}
	return nil
}
