package bench

import (
	"errors"
	"fmt"
)

// The drivers of results that another tool measured, by the name of that tool. They are
// not drivers in a suite.
const (
	DriverGo        = "go"
	DriverCriterion = "criterion"
)

// Ingested reports whether another tool measured the result: it has the cost of an
// operation in user space, and no counters of the kernel. Its object is the package, its
// program the function.
func (r *Result) Ingested() bool { return IsIngested(r.Driver) }

// Repeats returns the word for the repeats of a result: another tool loads nothing.
func (r *Result) Repeats() string {
	if r.Ingested() {
		return "measurements"
	}
	return "loads"
}

// IsIngested reports whether a driver is another tool.
func IsIngested(driver string) bool { return driver == DriverGo || driver == DriverCriterion }

// MaxIngested is how many values a measure from another tool may have.
const MaxIngested = 2000

// checkIngested refuses values that no other tool can have measured: they would be judged
// as the kernel's.
func (r *Result) checkIngested() error {
	switch {
	case !r.Ingested():
		return nil
	case len(r.Rounds.RunCnt) > 0, len(r.Floor.RunCnt) > 0, r.Traffic != nil, r.Path != nil, len(r.Retvals) > 0, r.ObjectSHA256 != "":
		return fmt.Errorf("it was measured by %s, and has what only a kernel counts", r.Driver)
	}
	for _, s := range r.Samples {
		m := s.Measure.Name
		if !CanMeasure(r.Driver, m) {
			return fmt.Errorf("it was measured by %s, which does not measure %q", r.Driver, m)
		}
		if len(s.Values) > MaxIngested {
			return fmt.Errorf("measure %q has %d values, which is more than %d", m, len(s.Values), MaxIngested)
		}
		for _, v := range s.Values {
			if v < 0 && !IsCustom(m) {
				return errors.New("measure " + m + " is negative")
			}
		}
	}
	return nil
}
