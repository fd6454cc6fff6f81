package job

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/internal/vm"
	"github.com/org/ebpf-bench-action/runner"
)

// A benchmark that was being measured when its machine failed has failed, in the results
// too, and that is reported once.
func TestABenchmarkThatIsLost(t *testing.T) {
	fault := bench.WithHint(fmt.Errorf("kernel 6.12: %w", &vm.Fault{Kind: vm.ErrHung, Reason: "it said nothing for 10s"}), "give it less to do")
	run := &bench.Run{Testbed: bench.Testbed{Mode: bench.ModeExact}, Results: []bench.Result{
		{Benchmark: "done", Samples: []bench.Sample{{Measure: bench.Instructions, Values: []float64{1}}}}, {Benchmark: "hung"}, {Benchmark: "never"},
	}}
	err := duringWhich(run, fault)
	if !strings.HasPrefix(err.Error(), "kernel 6.12: ") || !strings.HasSuffix(err.Error(), ", while it measured hung") || bench.Hint(err) != "give it less to do" || !errors.Is(err, vm.ErrHung) {
		t.Errorf("%v, hint %q", err, bench.Hint(err))
	}
	if r := run.Results[1]; !strings.HasPrefix(r.Error, "the virtual machine failed: ") || !strings.HasSuffix(r.Error, "it said nothing for 10s") || r.Hint == "" {
		t.Errorf("%+v", r)
	}
	if run.Results[0].Error+run.Results[2].Error != "" {
		t.Errorf("others failed: %+v", run.Results)
	}
	// An interrupted run has not lost a benchmark.
	if err := duringWhich(run, errors.New("interrupted")); err.Error() != "interrupted" || run.Results[2].Error != "" {
		t.Errorf("%v, %+v", err, run.Results[2])
	}

	c := &bench.Comparison{Pairs: []bench.Pair{{Benchmark: "done"}}}
	err = losePair(c, []string{"done", "hung", "never"}, fault)
	if len(c.Pairs) != 2 || c.Pairs[1].Benchmark != "hung" || c.Pairs[1].Head.Error == "" || !strings.HasSuffix(err.Error(), ", while it measured hung") {
		t.Errorf("%v, %+v", err, c.Pairs)
	}
	if err := losePair(nil, []string{"first"}, fault); !errors.Is(err, vm.ErrHung) {
		t.Errorf("%v", err)
	}

	s, err := suite.Bundled()
	if err != nil {
		t.Fatal(err)
	}
	programs, err := runner.PlanSearches(s)
	if err != nil {
		t.Fatal(err)
	}
	found := &bench.Search{Programs: []bench.Searched{{Benchmark: "done"}}}
	err = loseSearched(found, programs.Jobs, fault)
	if lost := found.Programs[1]; lost.Benchmark != programs.Jobs[1].Name || lost.Program == "" || lost.Error == "" || !strings.HasSuffix(err.Error(), ", while it measured "+lost.Benchmark) {
		t.Errorf("%v, %+v", err, found.Programs)
	}
}

// Results say which kernels have none.
func TestKernelsThatAreMissing(t *testing.T) {
	kernels := []string{"5.10", "6.1", "6.12"}
	c := &bench.Comparison{Testbed: bench.Testbed{Asked: "6.1"}}
	all := lackKernels(kernels, []*bench.Comparison{nil, c, nil})
	if len(all) != 1 || !slices.Equal(all[0].MissingKernels, []string{"5.10", "6.12"}) || c.MissingKernels != nil {
		t.Errorf("%+v of %+v", all, c)
	}
	var written []*bench.Run
	r := &reports{kernels: kernels, runs: make([]*bench.Run, 3), write: func(runs ...*bench.Run) error { written = runs; return nil }}
	for i, want := range [][]string{{"6.1", "6.12"}, {"6.12"}, {}} {
		r.add(i, time.Now(), &bench.Run{Testbed: bench.Testbed{Asked: kernels[i]}})
		for _, run := range written {
			if len(written) != i+1 || !slices.Equal(run.MissingKernels, want) {
				t.Errorf("after %d: %+v", i+1, run)
			}
		}
	}
}
