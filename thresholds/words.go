package thresholds

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Severity is the consequence of a threshold that does not hold.
type Severity string

// The severities. Empty is Fail.
const (
	// Fail makes the whole comparison fail.
	Fail Severity = "fail"
	// Warn only prints a warning.
	Warn Severity = "warn"
	// Ignore is judged, but neither reported nor part of the correction for the number of
	// tests.
	Ignore Severity = "ignore"
)

// UnmarshalText reads one of the severities.
func (s *Severity) UnmarshalText(text []byte) error {
	return oneOf(s, text, Fail, Warn, Ignore)
}

// Removal is the consequence of a benchmark that only the base has.
type Removal string

// The removals. Empty is WarnRemoved.
const (
	// FailRemoved makes the whole comparison fail.
	FailRemoved Removal = "fail"
	// WarnRemoved only prints a warning.
	WarnRemoved Removal = "warn"
	// AllowRemoved lists the benchmark, and that is all.
	AllowRemoved Removal = "allow"
)

// UnmarshalText reads one of the removals.
func (r *Removal) UnmarshalText(text []byte) error {
	return oneOf(r, text, FailRemoved, WarnRemoved, AllowRemoved)
}

// severity returns the severity of the verdict that a benchmark was removed.
func (r Removal) severity() Severity {
	switch r {
	case FailRemoved:
		return Fail
	case AllowRemoved:
		return Ignore
	}
	return Warn
}

// Direction says which changes are regressions.
type Direction string

// The directions. Empty is Worse.
const (
	// Worse means changes in the direction that is worse for the measure.
	Worse Direction = "worse"
	// Both means any change, for numbers that should stay the same.
	Both Direction = "both"
)

// UnmarshalText reads one of the directions.
func (d *Direction) UnmarshalText(text []byte) error {
	return oneOf(d, text, Worse, Both)
}

func oneOf[T ~string](into *T, text []byte, words ...T) error {
	var all []string
	for _, w := range words {
		if string(w) == string(text) {
			*into = w
			return nil
		}
		all = append(all, string(w))
	}
	return fmt.Errorf("%q is none of %s", text, strings.Join(all, ", "))
}

// Amount is how much a measure may grow: a share of the base or a number in
// the measure's unit.
type Amount struct {
	// Value is in percent if Relative is set, else in the measure's unit.
	Value    float64
	Relative bool
}

// UnmarshalText reads 10% or 2.5.
func (a *Amount) UnmarshalText(text []byte) error {
	number, relative := strings.CutSuffix(string(text), "%")
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || v <= 0 {
		return fmt.Errorf("%q is neither a percentage, such as 10%%, nor a number in the measure's unit, above zero", text)
	}
	*a = Amount{v, relative}
	return nil
}

// Date is a day, in UTC.
type Date struct{ time.Time }

// UnmarshalText reads 2027-01-31.
func (d *Date) UnmarshalText(text []byte) error {
	t, err := time.Parse(time.DateOnly, string(text))
	if err != nil {
		return fmt.Errorf("%q is not a date such as 2027-01-31", text)
	}
	d.Time = t
	return nil
}

// Over reports whether the whole day has passed.
func (d Date) Over(now time.Time) bool { return !now.Before(d.AddDate(0, 0, 1)) }

// String returns the date as it is written.
func (d Date) String() string { return d.Format(time.DateOnly) }
