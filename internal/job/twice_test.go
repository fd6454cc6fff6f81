package job

import (
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/programs"
	"github.com/org/ebpf-bench-action/runner"
	"github.com/org/ebpf-bench-action/thresholds"
)

// In a machine with a clock, a benchmark that got slower is measured twice, or no policy
// would call it a regression.
func TestSlowerIsMeasuredTwice(t *testing.T) {
	testenv.Root(t)
	object, err := programs.FS.ReadFile("fun_xdp/fun_xdp_bpfel.o")
	if err != nil {
		t.Fatal(err)
	}
	side := func(program string) *suite.Suite {
		s, err := suite.Load(suite.Memory(map[string][]byte{"fun_xdp.o": object, "suite.yml": []byte(`version: 1
objects: [fun_xdp.o]
benchmarks:
  - {name: a, program: ` + program + `, test_run: {packets: [{ipv4: {src: 10.0.0.252}, udp: {dst: 53}}]}}
  - {name: b, program: ` + program + `, test_run: {packets: [{ipv4: {src: 10.0.0.252}, udp: {dst: 53}}]}}
`)}), "suite.yml")
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	pairs, err := runner.PlanSuites(side("fun_xdp_fibonacci_slow"), side("fun_xdp_fibonacci"))
	if err != nil {
		t.Fatal(err)
	}
	var all *bench.Comparison
	report := func(c *bench.Comparison) error {
		all = comparisons.add(all, c)
		return nil
	}
	if err := compareEach(t.Context(), pairs, runner.Options{Budget: 300 * time.Millisecond}, report); err != nil {
		t.Fatal(err)
	}
	if len(all.Pairs) != 2 || len(all.Confirmed) != 2 {
		t.Fatalf("%d benchmarks, %d of them measured twice", len(all.Pairs), len(all.Confirmed))
	}
	for _, v := range thresholds.Default().Compare(all, thresholds.Options{}).All {
		if v.Measure.Name == bench.Latency.Name && v.Outcome != thresholds.Regression {
			t.Errorf("%s: %s: %s", v.Benchmark, v.Outcome, v.Why)
		}
	}
}
