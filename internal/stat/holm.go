package stat

import (
	"cmp"
	"slices"
)

// Holm adjusts the p-values of several tests so that comparing each with α
// keeps the probability of any false alarm among them below α: the i-th
// smallest of m is multiplied by m-i+1, and none is smaller than the one before
// it. The result is in the order of the argument.
//
// Holm, A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian
// Journal of Statistics 6 (1979).
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	adjusted := make([]float64, len(p))
	least := 0.0
	for i, at := range order {
		least = max(least, min(1, p[at]*float64(len(p)-i)))
		adjusted[at] = least
	}
	return adjusted
}
