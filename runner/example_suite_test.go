package runner_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/org/ebpf-bench-action/runner"
	"github.com/org/ebpf-bench-action/thresholds"
)

// The benchmarks of a suite, each measured for its budget.
func ExampleMeasure() {
	suite, err := runner.OpenSuite("ebpf-bench.yml")
	if err != nil {
		log.Fatal(err)
	}
	plan, err := runner.NewPlan(suite)
	if err != nil {
		log.Fatal(err)
	}
	run, err := runner.Measure(context.Background(), plan, runner.Options{Budget: time.Second})
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range run.Results {
		if insns := r.Sample("bpf-insns"); insns != nil {
			fmt.Println(r.Benchmark, insns.Values)
		}
	}
}

// Two builds of an object, measured in the same rounds and judged.
func ExampleCompare() {
	head, err := runner.OpenSuite("ebpf-bench.yml")
	if err != nil {
		log.Fatal(err)
	}
	object, err := runner.ReadObject("old.o")
	if err != nil {
		log.Fatal(err)
	}
	pairs, err := runner.PlanPairs(head, head.WithObjects([]runner.Object{object}))
	if err != nil {
		log.Fatal(err)
	}
	comparison, err := runner.Compare(context.Background(), pairs, runner.Options{})
	if err != nil {
		log.Fatal(err)
	}
	verdicts := thresholds.Default().Compare(comparison, thresholds.Options{})
	fmt.Println(verdicts.Overall())
}
