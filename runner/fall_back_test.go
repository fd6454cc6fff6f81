package runner

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/runner/internal/host"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
)

// Only a driver chosen automatically falls back, and only if the kernel lacks
// something.
func TestDriversThatTheKernelCannotDo(t *testing.T) {
	lacks := bench.WithHint(fmt.Errorf("attach: %w", host.Cannot(errors.New("there are no kprobes"))), "another kernel")
	for _, c := range []struct {
		name   string
		chosen bool
		floor  *driven
		loaded bool
	}{
		{"chosen, and not there", true, &driven{err: lacks}, true},
		{"named, and not there", false, &driven{err: lacks}, false},
		{"another error", true, &driven{err: errors.New("out of memory")}, false},
		{"no error", true, &driven{}, false},
		{"only loaded anyway", true, nil, false},
	} {
		j := &Job{
			Benchmark: &bench.Benchmark{Name: "a", Program: "a", Command: &bench.Command{}}, Chosen: c.chosen, Warnings: []string{"one"},
			Preparations: []plan.Preparation{{Program: "a", Runs: 1}},
			Spec:         &ebpf.CollectionSpec{Programs: map[string]*ebpf.ProgramSpec{"a": {Type: ebpf.Kprobe}}},
		}
		tr := newTrack(j, c.floor)
		tr.orVerify()
		if got := tr.job.Verify != nil && tr.result.Driver == bench.DriverVerify && tr.floor == nil; got != c.loaded {
			t.Errorf("%s: only loaded: %t", c.name, got)
		}
		if told := strings.Contains(strings.Join(tr.warnings, "\n"), NotRun+"attach: there are no kprobes"); told != c.loaded || tr.warnings[0] != "one" {
			t.Errorf("%s: warnings %q", c.name, tr.warnings)
		}
		if prepared := len(tr.job.Preparations) > 0; prepared == c.loaded {
			t.Errorf("%s: prepared: %t", c.name, prepared)
		}
		if j.Verify != nil || len(j.Warnings) != 1 || len(j.Preparations) != 1 {
			t.Errorf("%s: the plan's job is changed", c.name)
		}
	}
}
