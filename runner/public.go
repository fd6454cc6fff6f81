package runner

import (
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
	// Comparison is the pairs of results of two builds, measured in the same rounds.
	Comparison = bench.Comparison
	// Explanation is the BPF instructions that runs execute, by source line.
	Explanation = bench.Explanation
	// Pair is the results of a benchmark on both sides.
	Pair = bench.Pair
	// Result is what was measured of a benchmark, or why it was not.
	Result = bench.Result
	// Sample is the values of a measure.
	Sample = bench.Sample
)

// The modes in which a kernel is run, for Options.
const (
	ModeHost  = bench.ModeHost
	ModeExact = bench.ModeExact
)

// RunHelper runs this process as a helper if it was started as one, and returns
// otherwise. Programs whose driver is not test_run are driven by helpers, which are this
// executable started again: call it first in main or TestMain.
func RunHelper() { process.RunHelper() }

// OpenSuite reads a suite file with the files that it names. Without a name it reads
// ebpf-bench.yml in the working directory, or else the bundled suite.
func OpenSuite(name string) (*Suite, error) { return suite.Open(name) }

// ReadObject reads an ELF object.
func ReadObject(name string) (Object, error) { return suite.ReadObject(name) }
