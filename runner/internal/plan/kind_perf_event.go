package plan

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
)

var perfEventKind = Kind{
	check: func(j *Job) error {
		if j.ProgramSpec().Type != ebpf.PerfEvent {
			return errors.New("perf_event drives perf_event programs")
		}
		return nil
	},
	Alike:    func(j *Job) string { return fmt.Sprintf("perf_event %+v", *j.PerfEvent) },
	Sampled:  true,
	InOthers: func(j *Job) bool { return j.PerfEvent.Scope == bench.ScopeAll },
	neverRan: "the event never fired: does the load do what the event counts?",
}
