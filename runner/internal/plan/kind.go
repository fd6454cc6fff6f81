package plan

import (
	"context"
	"fmt"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/object"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
)

// Kind is a way to run programs, which a suite selects with a driver's key. A function
// that is nil does nothing.
type Kind struct {
	// Open attaches the job's loaded program, unless the driver is an Attacher.
	Open func(context.Context, *driver.Environment, *ebpf.Program, *Job) (driver.Driver, error)

	// Default reports whether a job whose suite names no driver gets this one. why,
	// unless empty, is why nothing runs the program, though others of its type get
	// this driver.
	Default func(*Job) (takes bool, why string)
	// Check says why programs of the job's type cannot be driven this way.
	Check func(*Job) error
	// Defaults fills in what the suite leaves to the program's type.
	Defaults func(*Job, *bench.Benchmark)
	// Prepare readies the job for loading: its program, and the settings that the
	// suite leaves to it.
	Prepare func(*Job, *suite.Suite, *object.Object) error
	// Packets are those that drive the job's program, and Runs is how many runs of a
	// round share them.
	Packets func(*Job) []bench.Packet
	Runs    func(*Job) int
	// CheckInputs says why the job cannot be driven with its packets or context.
	CheckInputs func(*Job) error
	// Lacks reports whether this kernel cannot drive programs of the job's type this
	// way; Instead returns a job of another driver.
	Lacks   func(*Job) bool
	Instead func(*Job) *Job

	// Alike identifies the benchmarks of a type that share a floor: the cost of
	// counting a run depends on how the kernel comes to call the program. Floor
	// removes from a floor's settings what is only for the program itself.
	Alike func(*Job) string
	Floor func(*bench.Benchmark)
	// Settle is how many runs precede those that are measured, and the most while
	// maps grow. It is nil if the driver does not make runs when it is told to.
	Settle func(*Job) (runs, most int)
	// Inputs is how many kinds of runs each slice has, alike except for chance.
	Inputs func(*Job) int
	// Sampled says that no two runs meet the kernel in the same state, so that it takes
	// many rounds for some to agree on a count.
	Sampled bool
	// OnThread says that the runs are on the measuring thread.
	OnThread bool
	// Busy says that a slice does much besides the runs.
	Busy bool
	// InOthers reports whether the program may run at any time, for others than the
	// load.
	InOthers func(*Job) bool
	// NeverRan returns the hint for a program that did not run once.
	NeverRan func(*Job) string
}

// kinds are the ways to run programs, by the name of the driver.
var kinds = map[string]*Kind{}

// Register adds a way to run programs, before anything is planned.
func Register(driver string, k *Kind) { kinds[driver] = k }

// Kind returns how the job's program is run.
func (j *Job) Kind() *Kind { return kinds[j.Driver()] }

// CheckDriver refuses a driver that cannot run the program.
func (j *Job) CheckDriver() error {
	k := j.Kind()
	if j.Parallel && !k.OnThread {
		return fmt.Errorf("parallel drives by test_run, and this is for %s", j.Driver())
	}
	if k.Check == nil {
		return nil
	}
	if err := k.Check(j); err != nil {
		return fmt.Errorf("program %s is of type %s: %w", j.Program, j.Type(), err)
	}
	return nil
}

// SetDefaults fills in what the suite leaves to the program's type.
func (j *Job) SetDefaults() {
	b := *j.Benchmark
	if k := j.Kind(); k.Defaults != nil {
		k.Defaults(j, &b)
	}
	j.Benchmark = &b
}

// Packets describes the packets that drive the program; there are none if the
// driver takes none.
func (j *Job) Packets() []bench.Packet {
	if k := j.Kind(); k.Packets != nil {
		return k.Packets(j)
	}
	return nil
}

// NeverRan returns the hint for a program that did not run once.
func (j *Job) NeverRan() string { return j.Kind().NeverRan(j) }

// KindsOfRuns returns how many kinds of runs a slice has, or 0 if that is
// unknown. Runs of a kind are alike unless they depend on chance.
func (j *Job) KindsOfRuns() int {
	if k := j.Kind(); k.Inputs != nil {
		return k.Inputs(j)
	}
	return 0
}

// Settles reports whether the same number of runs precedes those that are measured in every
// mode: the driver makes them when it is told to.
func (j *Job) Settles() bool { return j.Kind().Settle != nil }

// DefaultPackets drive programs whose suite gives none.
var DefaultPackets = []bench.Packet{{IPv4: &bench.IP{}, UDP: &bench.UDP{}, Sizes: bench.Sizes{64}}}
