package stat

import (
	"math"
	"slices"
	"sync"

	"github.com/aclements/go-moremath/stats"
)

// median returns the middle of the values, whose order it does not change.
func median(values []float64) float64 {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	return quantile(sorted, 0.5)
}

// quantile interpolates linearly between the two nearest order statistics:
// definition 7 of Hyndman and Fan, Sample Quantiles in Statistical Packages,
// The American Statistician 50 (1996). It is NaN if there are no values.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	rank := q * float64(len(sorted)-1)
	i := int(rank)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (sorted[i+1]-sorted[i])*(rank-float64(i))
}

// normalQuantile returns the p-quantile of the standard normal distribution.
func normalQuantile(p float64) float64 { return stats.StdNormal.InvCDF(p) }

// studentQuantile returns the p-quantile of Student's t distribution. It
// remembers results, because finding one takes a search, and a comparison needs
// the same few for each benchmark.
func studentQuantile(freedom, p float64) float64 {
	return students.of([2]float64{freedom, p}, func() float64 { return stats.InvCDF(stats.TDist{V: freedom})(p) })
}

var students memo[[2]float64, float64]

// memo remembers results, within bounds.
type memo[K comparable, V any] struct {
	mu    sync.Mutex
	known map[K]V
}

// maxMemo is how much a memo remembers before it starts afresh.
const maxMemo = 4096

func (m *memo[K, V]) of(key K, compute func() V) V {
	m.mu.Lock()
	defer m.mu.Unlock()
	if v, ok := m.known[key]; ok {
		return v
	}
	v := compute()
	if m.known == nil || len(m.known) >= maxMemo {
		m.known = map[K]V{}
	}
	m.known[key] = v
	return v
}
