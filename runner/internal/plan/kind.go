package plan

import (
	"fmt"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/suite"
)

// Kind is a way to run programs. A suite selects it with a driver's key.
type Kind struct {
	// check says why programs of the job's type cannot be driven this way.
	check func(*Job) error
	// defaults, unless nil, fills in what the suite leaves to the program's type.
	defaults func(*Job, *bench.Benchmark)
	// prepare, unless nil, readies the job for loading: its program, and the
	// settings that the suite leaves to it.
	prepare func(*Job, *suite.Suite) error
	// packets, unless nil, are those that drive the job's program, and runs is how many
	// runs of a round share them.
	packets func(*Job) []bench.Packet
	runs    func(*Job) int
	// Alike identifies the benchmarks of a type that share a floor: the cost of
	// counting a run depends on how the kernel comes to call the program.
	Alike func(*Job) string
	// Sampled says that no two runs meet the kernel in the same state, so that it takes
	// many rounds for some to agree on a count.
	Sampled bool
	// InOthers, unless nil, reports whether the program may run at any time, for others
	// than the load.
	InOthers func(*Job) bool
	// neverRan is the hint for a program that did not run once.
	neverRan string
}

// kinds are the ways to run a program, by the name of the driver. Verify, which
// only loads the program, is not among them.
var kinds = map[string]*Kind{
	bench.DriverTestRun:   &testRunKind,
	bench.DriverVeth:      &vethKind,
	bench.DriverPerfEvent: &perfEventKind,
	bench.DriverCgroup:    &cgroupKind,
	bench.DriverSocket:    &socketKind,
	bench.DriverCommand:   &commandKind,
}

// Kind returns how the job's program is run, or nil if it is only loaded.
func (j *Job) Kind() *Kind { return kinds[j.Driver()] }

// CheckDriver refuses a driver that cannot run the program.
func (j *Job) CheckDriver() error {
	if j.Parallel && j.TestRun == nil {
		return fmt.Errorf("parallel drives by test_run, and this is for %s", j.Driver())
	}
	k := j.Kind()
	if k == nil {
		return nil
	}
	if err := k.check(j); err != nil {
		return fmt.Errorf("program %s is of type %s: %w", j.Program, j.Type(), err)
	}
	return nil
}

// SetDefaults fills in what the suite leaves to the program's type.
func (j *Job) SetDefaults() {
	b := *j.Benchmark
	if k := j.Kind(); k != nil && k.defaults != nil {
		k.defaults(j, &b)
	}
	j.Benchmark = &b
}

// readyFor prepares the job for its driver, which can run it.
func (j *Job) readyFor(s *suite.Suite) error {
	if k := j.Kind(); k != nil && k.prepare != nil {
		return k.prepare(j, s)
	}
	return nil
}

// Packets describes the packets that drive the program; there are none if the
// driver takes none.
func (j *Job) Packets() []bench.Packet {
	if k := j.Kind(); k != nil && k.packets != nil {
		return k.packets(j)
	}
	return nil
}

// NeverRan returns the hint for a program that did not run once.
func (j *Job) NeverRan() string {
	if j.Command != nil && len(j.Command.Run) > 0 { // there is no load to choose
		return "nothing that the command does calls the hook: name another one by run, or another hook by attach"
	}
	return j.Kind().neverRan
}
