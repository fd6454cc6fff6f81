package stat

import (
	"errors"
	"math"
	"slices"
	"testing"
)

func TestDetectors(t *testing.T) {
	oneToFive := []float64{1, 2, 3, 4, 5}
	almostEqual := append(slices.Repeat([]float64{100}, 11), 101)
	for _, c := range []struct {
		test                   Detector
		history                []float64
		boundary               float64
		baseline, lower, upper float64
	}{
		{Static, nil, 7, 7, 7, 7},
		{Percentage, oneToFive, 0.1, 3, 2.7, 3.3},
		// σ of 1 to 5 is √2; z(0.85) is 1.0364334, t(0.85) of 4 degrees 1.1895669.
		{ZScore, oneToFive, 0.85, 3, 3 - 1.4657382, 3 + 1.4657382},
		{TTest, oneToFive, 0.85, 3, 3 - 1.6823017, 3 + 1.6823017},
		// The logarithms 0 and ln 2 have mean and σ of ln 2 / 2.
		{LogNormal, []float64{1, 2}, 0.85, math.Sqrt2, 2*math.Sqrt2 - 2.0254138, 2.0254138},
		{IQR, oneToFive, 2, 3, -1, 7},
		// Changes 1, 1/2, 1/3, 1/4 have the quartiles 0.3125 and 0.625.
		{DeltaIQR, oneToFive, 2, 3, 3 - 1.875, 3 + 1.875},
		// A negative middle does not swap the limits.
		{Percentage, []float64{-0.3, -0.3, -0.3}, 0.1, -0.3, -0.33, -0.27},
		{DeltaIQR, []float64{-1, -2, -3, -4, -5}, 2, -3, -3 - 1.875, -3 + 1.875},
		// An IQR of 0 of values that vary: the limits are their range.
		{IQR, almostEqual, 3, 100, 100, 101},
		{DeltaIQR, almostEqual, 3, 100, 100, 101},
		{IQR, oneToFive, 0, 3, 3, 3},
		{ZScore, oneToFive, 0.5, 3, 3, 3},
		// From a value to the same is not a change, also from 0.
		{DeltaIQR, []float64{0, 0, 0, 0, 0, 0, 0, 0, 1}, 3, 0, 0, 1},
	} {
		l, err := c.test.Limits(c.history, c.boundary)
		if err != nil || !near(l.Baseline, c.baseline, 1e-6) || !near(l.Lower, c.lower, 1e-6) || !near(l.Upper, c.upper, 1e-6) {
			t.Errorf("%s: %+v %v, want %v in %v to %v", c.test, l, err, c.baseline, c.lower, c.upper)
		}
	}
}

func TestDetectorsWithoutLimits(t *testing.T) {
	for _, d := range Detectors()[1:] {
		if _, err := d.Limits([]float64{1}, 0.9); !errors.Is(err, ErrNoLimits) {
			t.Errorf("%s of one value: %v", d, err)
		}
		if _, err := d.Limits([]float64{3, 3, 3}, 0.9); d != Percentage && !errors.Is(err, ErrNoLimits) {
			t.Errorf("%s of equal values: %v", d, err)
		}
	}
	if _, err := LogNormal.Limits([]float64{1, -1, 2}, 0.9); !errors.Is(err, ErrNoLimits) {
		t.Errorf("log_normal of a negative value: %v", err)
	}
	if _, err := DeltaIQR.Limits([]float64{0, 1, 0, 2}, 0.9); !errors.Is(err, ErrNoLimits) {
		t.Errorf("delta_iqr of a history with zeros: %v", err)
	}
}

// The mean of equal values is that value to the last bit, whatever adding them
// up would give.
func TestMeanOfEqualValues(t *testing.T) {
	for _, v := range []float64{2327.6, 2216.95, 0.1, -0.3} {
		l, err := Percentage.Limits(slices.Repeat([]float64{v}, 12), 0)
		if err != nil || l.Lower != v || l.Upper != v {
			t.Errorf("%v: %+v %v", v, l, err)
		}
	}
}

func TestBoundaries(t *testing.T) {
	for d, bad := range map[Detector][]float64{
		Static: {math.NaN()}, Percentage: {-1}, ZScore: {0.4, 1}, TTest: {0, 2}, LogNormal: {1}, IQR: {-1}, DeltaIQR: {math.Inf(1)}, "median": {1},
	} {
		for _, b := range bad {
			if d.CheckBoundary(b) == nil {
				t.Errorf("%s takes the boundary %v", d, b)
			}
		}
	}
}
