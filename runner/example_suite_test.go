package runner_test

import (
	"context"
	"fmt"
	"log"
	"slices"
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
		if r.Error != "" {
			log.Fatalf("%s: %s", r.Benchmark, r.Error)
		}
		latency := slices.Sorted(slices.Values(r.Sample("latency").Values))
		fmt.Println(r.Benchmark, latency[len(latency)/2], "ns")
	}
}

// Two builds of an object, measured in the same rounds and judged.
func ExampleCompareTwice() {
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
	policy := thresholds.Default()
	comparison, err := runner.CompareTwice(context.Background(), pairs, runner.Options{}, policy.Flagged)
	if err != nil {
		log.Fatal(err)
	}
	verdicts := policy.Compare(comparison, thresholds.Options{})
	for _, v := range verdicts.All {
		fmt.Println(v.Benchmark, v.Measure.Name, v.Outcome, v.Why)
	}
	fmt.Println(verdicts.Overall())
}
