package stat

// location is an estimate of where values lie, and an interval that holds the
// truth with a given confidence, whatever the shape of the distribution.
type location struct {
	center, low, high float64
	// bounded is false if there are too few values for an interval.
	bounded bool
}

// locate estimates the middle of symmetrically distributed values. The center
// is the estimate of Hodges and Lehmann, the median of the Walsh averages,
// which outliers hardly move (Hollander, Wolfe, Chicken, section 3.2). The
// interval ends at the order statistics of these averages that invert the
// signed-rank test (section 3.3).
func locate(values []float64, confidence float64) location {
	walsh := walshAverages(values)
	return walsh.bounds(signedRankCritical(len(values), (1-confidence)/2))
}

// bounds returns the center and the c-th values from both ends.
func (all *combinations) bounds(c int) location {
	l := location{center: all.median()}
	if c >= 1 && 2*c <= all.n {
		l.low, l.high, l.bounded = all.at(c-1), all.at(all.n-c), true
	}
	return l
}
