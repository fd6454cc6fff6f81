package stat

import (
	"math"
	"slices"
)

// combinations represents the values f(x, y) of pairs of values, in ascending
// order, without listing them: thousands of loads make millions of pairs. f
// does not decrease as x and y grow, not even in floating point.
type combinations struct {
	n int
	// upTo counts the values of at most v.
	upTo func(v float64) int
	// least and most are the smallest and the largest value.
	least, most float64
}

// walshAverages returns the means of all pairs of values, including each with
// itself.
func walshAverages(values []float64) combinations {
	n := len(values)
	if n == 0 {
		return combinations{}
	}
	sorted := slices.Sorted(slices.Values(values))
	return combinations{
		n: n * (n + 1) / 2, least: sorted[0], most: sorted[n-1],
		upTo: func(v float64) int {
			count, last := 0, n
			for i := 0; i < n; i++ {
				for last > i && mean(sorted[i], sorted[last-1]) > v {
					last--
				}
				if last <= i {
					break
				}
				count += last - i
			}
			return count
		},
	}
}

// mean does not overflow: halving the largest numbers is exact.
func mean(a, b float64) float64 {
	if s := a + b; !math.IsInf(s, 0) {
		return s / 2
	}
	return a/2 + b/2
}

// shifts returns the differences of all pairs of a value from each side.
func shifts(base, head []float64) combinations {
	b, h := slices.Sorted(slices.Values(base)), slices.Sorted(slices.Values(head))
	nb, nh := len(b), len(h)
	if nb == 0 || nh == 0 {
		return combinations{}
	}
	return combinations{
		n: nb * nh, least: h[0] - b[nb-1], most: h[nh-1] - b[0],
		upTo: func(v float64) int {
			count, last := 0, 0
			for _, x := range b {
				for last < nh && h[last]-x <= v {
					last++
				}
				count += last
			}
			return count
		},
	}
}

// at returns the value with k values before it. It searches all floating-point
// numbers between the ends, at most 2^64.
func (c *combinations) at(k int) float64 {
	low, high := ordinal(c.least), ordinal(c.most)
	for low < high {
		middle := low + (high-low)/2
		if c.upTo(fromOrdinal(middle)) > k {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return fromOrdinal(low)
}

// median interpolates like quantile.
func (c *combinations) median() float64 {
	if c.n == 0 {
		return math.NaN()
	}
	low := c.at((c.n - 1) / 2)
	if c.n%2 == 1 {
		return low
	}
	high := c.at(c.n / 2)
	return low + (high-low)/2
}

// ordinal numbers the floating-point numbers in their order.
func ordinal(v float64) uint64 {
	if v == 0 {
		v = 0 // of the two zeros, the positive one
	}
	bits := math.Float64bits(v)
	if bits>>63 == 1 {
		return ^bits
	}
	return bits | 1<<63
}

func fromOrdinal(n uint64) float64 {
	if n>>63 == 1 {
		return math.Float64frombits(n &^ (1 << 63))
	}
	return math.Float64frombits(^n)
}
