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
