package cli

import (
	"github.com/org/ebpf-bench-action/internal/fleet"
	"github.com/org/ebpf-bench-action/internal/ui"
)

// Watch shows on a terminal what is under way while something is measured. It implements
// measure.Watch.
type Watch struct{ *ui.Terminal }

// Stage implements fleet.Watch.
func (w Watch) Stage(kernel string) fleet.Stage { return w.Terminal.Stage("kernel " + kernel) }
