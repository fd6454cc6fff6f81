// Package perfevent drives programs by perf events that sample a load.
package perfevent

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
)

func init() {
	plan.Register(bench.DriverPerfEvent, &plan.Kind{
		Open:    open,
		Default: func(j *plan.Job) (bool, string) { return j.ProgramSpec().Type == ebpf.PerfEvent, "" },
		Check: func(j *plan.Job) error {
			if j.ProgramSpec().Type != ebpf.PerfEvent {
				return errors.New("perf_event drives perf_event programs")
			}
			return nil
		},
		Alike:    func(j *plan.Job) string { return fmt.Sprintf("perf_event %+v", *j.PerfEvent) },
		Sampled:  true,
		InOthers: func(j *plan.Job) bool { return j.PerfEvent.Scope == bench.ScopeAll },
		NeverRan: func(*plan.Job) string { return "the event never fired: does the load do what the event counts?" },
	})
}
