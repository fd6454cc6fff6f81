package judge

import (
	"errors"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/fleet"
	"github.com/org/ebpf-bench-action/internal/vm"
)

// A benchmark that was lost with its machine is reported once.
func TestABenchmarkThatIsLost(t *testing.T) {
	run := &bench.Run{Results: []bench.Result{{Benchmark: "hung"}}}
	err := fleet.Lose(&run.Results[0], &vm.Fault{Kind: vm.ErrHung, Reason: "it said nothing for 10s"})
	if said := Failures([]*bench.Run{run}, false, exit.NoMeasure(errors.Join(err))); said != nil {
		t.Errorf("it is said twice: %v", said)
	}
	if said := Failures([]*bench.Run{run}, false); said == nil || !strings.HasPrefix(said.Error(), "hung: the virtual machine failed: ") {
		t.Errorf("results that are read say %v", said)
	}
}

// A kernel without results is missed by who reads those of the others, and not again by who
// saw why.
func TestAKernelThatIsLost(t *testing.T) {
	run := &bench.Run{MissingKernels: []string{"6.1"}}
	if said := Failures([]*bench.Run{run, run}, false); said == nil || said.Error() != "nothing was measured on 6.1: the results are partial" {
		t.Errorf("runs: %v", said)
	}
	c := &bench.Comparison{MissingKernels: []string{"6.1", "5.10"}}
	if said := Uncompared([]*bench.Comparison{c}, false); said == nil || said.Error() != "nothing was measured on 6.1, 5.10: the comparison is partial" {
		t.Errorf("comparisons: %v", said)
	}
	if said := Uncompared([]*bench.Comparison{c}, false, errors.New("kernel 6.1: it hung")); said != nil {
		t.Errorf("it is said twice: %v", said)
	}
}
