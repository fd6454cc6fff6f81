package runner

import (
	"testing"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
)

func TestSource(t *testing.T) {
	plan := planOf(t, objects+`
  - {name: a, program: fun_xdp_fibonacci_slow, test_run: {}}
  - {name: b, program: profile, perf_event: {}}
`)
	for i, want := range []bench.Source{
		{File: "fun_xdp.c", Line: 182, Function: "fun_xdp_fibonacci_slow"},
		{File: "perf_profiler.c", Line: 48, Function: "profile"},
	} {
		if got := plan.Jobs[i].Source(); got == nil || *got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	// A program without debug information has no source.
	if got := (&Job{Benchmark: &bench.Benchmark{Program: "f"}, Spec: &ebpf.CollectionSpec{Programs: map[string]*ebpf.ProgramSpec{"f": {Name: "f"}}}}).Source(); got != nil {
		t.Errorf("%+v", got)
	}
}
