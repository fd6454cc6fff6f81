package stat

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Detector decides whether a value is out of line with the values before it.
// The names and formulas are those of Bencher's thresholds
// (https://bencher.dev/docs/explanation/thresholds/), so that a gate here and
// one there agree.
type Detector string

// The detectors. With b the boundary, each limit is
//
//	static      b itself
//	percentage  mean ± |mean|·b
//	z_score     mean ± σ·z(b), z the quantile of the normal distribution
//	t_test      mean ± σ·t(b), t that of Student's with n-1 degrees of freedom
//	log_normal  upper exp(μ + σ·z(b)) with μ and σ those of the logarithms,
//	            lower mirrored at exp(μ): 2·exp(μ) - upper
//	iqr         median ± IQR·b
//	delta_iqr   median ± |median|·b·IQR of the changes from each value to the
//	            next, as shares of the former and without their sign
//
// where σ divides by n, not n-1, and quartiles interpolate linearly. If values
// vary but their IQR is 0, such as eleven times 100 and once 101, it does not
// measure how far they vary: the limits are then the smallest and the largest
// of them.
const (
	Static     Detector = "static"
	Percentage Detector = "percentage"
	ZScore     Detector = "z_score"
	TTest      Detector = "t_test"
	LogNormal  Detector = "log_normal"
	IQR        Detector = "iqr"
	DeltaIQR   Detector = "delta_iqr"
)

// Detectors lists all detectors.
func Detectors() []Detector {
	return []Detector{Static, Percentage, ZScore, TTest, LogNormal, IQR, DeltaIQR}
}

// ErrNoLimits means that a history does not allow limits: it is too short, or
// its values do not vary.
var ErrNoLimits = errors.New("the history gives no limits")

// Limits are the bounds of acceptable values. Baseline is the middle of the
// history.
type Limits struct {
	Baseline, Lower, Upper float64
}

// CheckBoundary refuses a boundary that is invalid for the detector.
func (d Detector) CheckBoundary(b float64) error {
	switch {
	case !slices.Contains(Detectors(), d):
		return fmt.Errorf("unknown test %q", d)
	case math.IsNaN(b) || math.IsInf(b, 0):
		return errors.New("the boundary is not a number")
	case (d == ZScore || d == TTest || d == LogNormal) && (b < 0.5 || b >= 1):
		return fmt.Errorf("the boundary of %s is a probability from 0.5 to below 1", d)
	case d != Static && b < 0:
		return fmt.Errorf("the boundary of %s is not negative", d)
	}
	return nil
}

// Limits computes the limits for the value that follows the history, oldest
// first. All are in the measure's unit. The error wraps ErrNoLimits, or is that
// of CheckBoundary.
func (d Detector) Limits(history []float64, boundary float64) (Limits, error) {
	if err := d.CheckBoundary(boundary); err != nil {
		return Limits{}, err
	}
	if d == Static {
		return Limits{boundary, boundary, boundary}, nil
	}
	if len(history) < 2 {
		return Limits{}, fmt.Errorf("%w: %d values are too few", ErrNoLimits, len(history))
	}
	least, most := slices.Min(history), slices.Max(history)
	if least == most && d != Percentage {
		return Limits{}, fmt.Errorf("%w: its values do not vary", ErrNoLimits)
	}
	l := d.limits(history, boundary)
	if math.IsNaN(l.Lower) || math.IsInf(l.Lower, 0) || math.IsNaN(l.Upper) || math.IsInf(l.Upper, 0) {
		return Limits{}, fmt.Errorf("%w: %s cannot be computed of its values", ErrNoLimits, d)
	}
	if (d == IQR || d == DeltaIQR) && l.Upper == l.Lower && boundary > 0 {
		l.Lower, l.Upper = least, most
	}
	return l, nil
}

func (d Detector) limits(history []float64, b float64) Limits {
	switch d {
	case Percentage:
		mean, _ := moments(history)
		return around(mean, math.Abs(mean)*b)
	case ZScore:
		mean, sigma := moments(history)
		return around(mean, sigma*normalQuantile(b))
	case TTest:
		mean, sigma := moments(history)
		return around(mean, sigma*studentQuantile(float64(len(history)-1), b))
	case LogNormal:
		logs := make([]float64, len(history))
		for i, v := range history {
			logs[i] = math.Log(v)
		}
		mu, sigma := moments(logs)
		return around(math.Exp(mu), math.Exp(mu+sigma*normalQuantile(b))-math.Exp(mu))
	case IQR:
		sorted := slices.Sorted(slices.Values(history))
		return around(quantile(sorted, 0.5), spread(sorted)*b)
	default:
		changes := make([]float64, len(history)-1)
		for i := range changes {
			if history[i+1] != history[i] {
				changes[i] = math.Abs(history[i+1]-history[i]) / math.Abs(history[i])
			}
		}
		slices.Sort(changes)
		middle := median(history)
		return around(middle, math.Abs(middle)*spread(changes)*b)
	}
}

func around(middle, reach float64) Limits { return Limits{middle, middle - reach, middle + reach} }

// spread returns the interquartile range.
func spread(sorted []float64) float64 { return quantile(sorted, 0.75) - quantile(sorted, 0.25) }

// moments returns the mean and the standard deviation of the values themselves,
// not of a population that they come from. It adds up differences from the
// first value, so that the mean of equal values is that value to the last bit.
func moments(values []float64) (mean, sigma float64) {
	n := float64(len(values))
	for _, v := range values {
		mean += v - values[0]
	}
	mean = values[0] + mean/n
	for _, v := range values {
		sigma += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(sigma / n)
}
