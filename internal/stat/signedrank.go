package stat

import (
	"cmp"
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"
)

// exactLimit is the number of values up to which the signed-rank distribution
// is counted exactly; above it, the normal distribution approximates it.
const exactLimit = 256

// signedRankP returns the two-sided p-value of Wilcoxon's signed-rank test that
// the values lie symmetrically around zero. It drops zeros, and gives ties the
// mean of their ranks, with the distribution conditional on those ranks.
//
// Wilcoxon, Individual Comparisons by Ranking Methods, Biometrics Bulletin 1
// (1945); Hollander, Wolfe, Chicken, Nonparametric Statistical Methods, 3rd
// ed. (2014), section 3.1.
func signedRankP(values []float64) float64 {
	ranks, positive := signedRanks(values)
	if len(ranks) == 0 {
		return 1
	}
	total := 0
	for _, r := range ranks {
		total += r
	}
	tail := min(positive, total-positive)
	if len(ranks) > exactLimit {
		return signedRankNormalP(ranks, tail, total)
	}
	return min(1, 2*sum(rankSums(ranks, tail)))
}

// signedRanks ranks the nonzero values by their absolute size. All ranks, and
// the sum of those of the positive values, are doubled, so that the mean rank
// of a tie is an integer, too.
func signedRanks(values []float64) (ranks []int, positive int) {
	d := slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return v == 0 })
	slices.SortFunc(d, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) })
	for first := 0; first < len(d); {
		next := first + 1
		for next < len(d) && math.Abs(d[next]) == math.Abs(d[first]) {
			next++
		}
		// The ranks first+1 to next have this mean, doubled.
		rank := first + 1 + next
		for ; first < next; first++ {
			ranks = append(ranks, rank)
			if d[first] > 0 {
				positive += rank
			}
		}
	}
	return ranks, positive
}

// rankSums returns the probability of each sum of ranks from 0 to limit when
// each rank counts or not with probability one half: the shift algorithm of
// Streitberg and Röhmel, Exact Distributions for Permutation and Rank Tests,
// Statistical Software Newsletter 12 (1986).
func rankSums(ranks []int, limit int) []float64 {
	p := make([]float64, limit+1)
	p[0] = 1
	reached := 0
	for _, r := range ranks {
		reached = min(reached+r, limit)
		for s := reached; s >= 0; s-- {
			p[s] /= 2
			if s >= r {
				// p[s-r] is still whole: the sums are visited downwards.
				p[s] += p[s-r] / 2
			}
		}
	}
	return p
}

// signedRankNormalP returns the p-value by the normal approximation with
// correction for continuity and ties (Hollander, Wolfe, Chicken, (3.8) and
// (3.14)). Its sums are doubled.
func signedRankNormalP(ranks []int, tail, total int) float64 {
	squares := 0.0
	for _, r := range ranks {
		squares += float64(r) * float64(r)
	}
	z := (float64(tail) + 1 - float64(total)/2) / (math.Sqrt(squares) / 2)
	return min(1, 2*stats.StdNormal.CDF(z))
}

// signedRankCritical returns the largest c such that a rank sum of n values is
// below c with a probability of at most tail. It returns 0 if there is none: n
// values cannot establish anything with that confidence.
func signedRankCritical(n int, tail float64) int {
	if n > exactLimit {
		mean, size := float64(n)*float64(n+1)/4, float64(n)*float64(n+1)*float64(2*n+1)/24
		return int(mean + normalQuantile(tail)*math.Sqrt(size))
	}
	return criticalSignedRanks.of(signedRank{n, tail}, func() int {
		ranks := make([]int, n)
		for i := range ranks {
			ranks[i] = i + 1
		}
		below := 0.0
		for c, p := range rankSums(ranks, n*(n+1)/4) {
			if below += p; below > tail {
				return c
			}
		}
		return 0
	})
}

// signedRank identifies a critical value.
type signedRank struct {
	n    int
	tail float64
}

var criticalSignedRanks memo[signedRank, int]

func sum(values []float64) (s float64) {
	for _, v := range values {
		s += v
	}
	return s
}
