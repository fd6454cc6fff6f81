package runner

import (
	"path/filepath"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/internal/workload/process"
)

// The types that functions of this package and of package thresholds take and return.
type (
	// Suite is a validated suite file. Its method WithObjects returns the same
	// benchmarks of another build.
	Suite = suite.Suite
	// Object is an ELF object.
	Object = suite.Object
	// Run is the results of a plan.
	Run = bench.Run
	// Comparison is the pairs of results of two builds, measured in the same rounds. A
	// pair lacks the result of a side that has no such benchmark.
	Comparison = bench.Comparison
	// Explanation is the BPF instructions that runs execute, by source line.
	Explanation = bench.Explanation
	// Pair is the results of a benchmark on both sides.
	Pair = bench.Pair
	// Result is what was measured of a benchmark, or why it was not.
	Result = bench.Result
	// Sample is the values of a measure; the method Sample of a Result returns the one
	// of a measure such as "latency" (in ns) or "bpf-insns".
	Sample = bench.Sample
)

// RunHelper runs this process as a helper if it was started as one, and returns
// otherwise. Programs whose driver is not test_run are driven by helpers, which are this
// executable started again: call it first in main or TestMain.
func RunHelper() { process.RunHelper() }

// OpenSuite reads a suite file with the files that it names.
func OpenSuite(name string) (*Suite, error) { return suite.Load(suite.OS, filepath.ToSlash(name)) }

// ReadObject reads a file. NewPlan and PlanPairs find out whether it is an ELF object.
func ReadObject(name string) (Object, error) { return suite.ReadObject(name) }
