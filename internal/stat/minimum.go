package stat

import "math"

// MinLoads returns the number of loads below which the signed-rank test cannot
// reach a p-value of alpha: of all 2^n ways to give n differences a sign, the
// two most extreme have equal signs.
func MinLoads(alpha float64) int {
	return int(math.Ceil(1 + math.Log2(1/alpha)))
}
