package runner

import (
	"context"
	"errors"
	"fmt"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/suite"
)

// kind is a way to let programs run: what a driver's key in a suite stands for.
type kind struct {
	// check says why programs of the job's type cannot be driven this way.
	check func(*Job) error
	// prepare readies the job for loading, where it is not nil: its program, and
	// what the suite leaves to that.
	prepare func(*Job, *suite.Suite) error
	// open attaches a loaded program to what drives it.
	open func(context.Context, *environment, *ebpf.Program, *Job) (driver, error)
	// alike tells which benchmarks of a type share a floor: what counting a run
	// costs depends on how the kernel comes to call the program.
	alike func(*Job) string
	// neverRan is the hint for a program that did not run once.
	neverRan string
	// paced says that what drives the program sets the rate of its runs, so that
	// a throughput would say nothing of the program.
	paced bool
}

// kinds are the ways to let a program run, by the name of the driver. There is
// none for a program that is only loaded.
var kinds = map[string]*kind{
	bench.DriverTestRun:   &testRunKind,
	bench.DriverVeth:      &vethKind,
	bench.DriverPerfEvent: &perfEventKind,
	bench.DriverCgroup:    &cgroupKind,
	bench.DriverSocket:    &socketKind,
	bench.DriverCommand:   &commandKind,
}

// kind is how the job's program is run, nil where it is only loaded.
func (j *Job) kind() *kind { return kinds[j.Driver()] }

func (j *Job) openDriver(ctx context.Context, env *environment, p *ebpf.Program) (driver, error) {
	switch k := j.kind(); {
	case k != nil:
		return k.open(ctx, env, p, j)
	case j.Verify != nil:
		return verified{}, nil
	}
	return nil, errors.New("the benchmark has no driver")
}

// checkDriver refuses a driver that cannot run the program.
func (j *Job) checkDriver() error {
	if j.Parallel && j.TestRun == nil {
		return fmt.Errorf("parallel drives by test_run, and this is for %s", j.Driver())
	}
	k := j.kind()
	if k == nil {
		return nil
	}
	if err := k.check(j); err != nil {
		return fmt.Errorf("program %s is of type %s: %w", j.Program, j.Type(), err)
	}
	return nil
}

// readyFor readies the program for a driver that can run it.
func (j *Job) readyFor(s *suite.Suite) error {
	if k := j.kind(); k != nil && k.prepare != nil {
		return k.prepare(j, s)
	}
	return nil
}
