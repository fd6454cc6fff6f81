package stranger

import (
	"os"
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/runner"
	"github.com/org/ebpf-bench-action/thresholds"
)

func TestMain(m *testing.M) {
	runner.RunHelper()
	os.Exit(m.Run())
}

// TestSlower compares a program with one that costs several times as much, attached.
func TestSlower(t *testing.T) {
	base, err := runner.OpenSuite("base.yml")
	if err != nil {
		t.Fatal(err)
	}
	head, err := runner.OpenSuite("head.yml")
	if err != nil {
		t.Fatal(err)
	}
	pairs, err := runner.PlanSuites(head, base)
	if err != nil {
		t.Fatal(err)
	}
	policy := thresholds.Default()
	c, err := runner.CompareTwice(t.Context(), pairs, runner.Options{Budget: 200 * time.Millisecond, PlanLoads: policy.PlanLoads(len(pairs))}, policy.Flagged)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range c.Pairs {
		if p.Head == nil || p.Head.Error != "" {
			t.Errorf("%+v", p.Head)
		}
	}
	verdicts := policy.Compare(c, thresholds.Options{})
	for _, v := range verdicts.All {
		if v.Measure.Name == "latency" && v.Benchmark == "fibonacci" && v.Outcome != thresholds.Regression {
			t.Errorf("latency: %v: %s", v.Outcome, v.Why)
		}
	}
	if got := verdicts.Overall(); got != thresholds.Regression {
		t.Errorf("the verdict is %v", got)
	}
}
