package stat

import "slices"

// location is where values lie: an estimate, and an interval that holds the
// truth with the confidence asked for, whatever the shape of their spread.
type location struct {
	center, low, high float64
	// bounded is false where there are too few values for an interval.
	bounded bool
}

// locate estimates the middle of values that spread symmetrically: the center
// is that of hodgesLehmann, and the interval ends at the order statistics of
// the Walsh averages that invert the signed-rank test (Hollander, Wolfe,
// Chicken, section 3.3).
func locate(values []float64, confidence float64) location {
	return bounds(walshAverages(values), signedRankCritical(len(values), (1-confidence)/2))
}

// hodgesLehmann is the median of the Walsh averages, an estimate of the middle
// that outliers hardly move (Hollander, Wolfe, Chicken, section 3.2).
func hodgesLehmann(values []float64) float64 { return quantile(walshAverages(values), 0.5) }

// walshAverages are the means of all pairs of values, each with itself too,
// in ascending order.
func walshAverages(values []float64) []float64 {
	n := len(values)
	walsh := make([]float64, 0, n*(n+1)/2)
	for i, a := range values {
		for _, b := range values[i:] {
			walsh = append(walsh, (a+b)/2)
		}
	}
	slices.Sort(walsh)
	return walsh
}

// bounds takes the center and the c-th values from both ends.
func bounds(sorted []float64, c int) location {
	l := location{center: quantile(sorted, 0.5)}
	if c >= 1 && 2*c <= len(sorted) {
		l.low, l.high, l.bounded = sorted[c-1], sorted[len(sorted)-c], true
	}
	return l
}
