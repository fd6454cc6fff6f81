package stat

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// The results equal those of listing and sorting the pairs.
func TestOrderOfPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := 1; n < 40; n++ {
		x, y := make([]float64, n), make([]float64, 1+rng.IntN(40))
		for _, values := range [][]float64{x, y} {
			for i := range values {
				// With ties, zeros and negative ones.
				values[i] = math.Round(rng.NormFloat64()*20) / 8
			}
		}
		var means, differences []float64
		for i, a := range x {
			for _, b := range x[i:] {
				means = append(means, (a+b)/2)
			}
			for _, b := range y {
				differences = append(differences, b-a)
			}
		}
		for _, c := range []struct {
			got  combinations
			want []float64
		}{{walshAverages(x), means}, {shifts(x, y), differences}} {
			slices.Sort(c.want)
			if c.got.n != len(c.want) || c.got.median() != quantile(c.want, 0.5) {
				t.Fatalf("n %d median %v, want %d %v", c.got.n, c.got.median(), len(c.want), quantile(c.want, 0.5))
			}
			for k, want := range c.want {
				if got := c.got.at(k); got != want {
					t.Fatalf("value %d of %v is %v, want %v", k, x, got, want)
				}
			}
		}
	}
	if none := walshAverages(nil); !math.IsNaN(none.median()) {
		t.Errorf("the median of nothing is %v", none.median())
	}
}

// manyLoads returns a benchmark in which each load has one round.
func manyLoads(loads int) *bench.Pair {
	rng := rand.New(rand.NewPCG(1, 2))
	result := func() *bench.Result {
		r := &bench.Result{Samples: []bench.Sample{{Measure: bench.Latency}}}
		for load := range loads {
			r.Rounds.Add(load, 100_000+uint64(rng.IntN(1000)), 1000, 1, 0)
			r.Floor.Add(load, 40_000, 1000, 1, 0)
		}
		return r
	}
	return &bench.Pair{Base: result(), Head: result(), Again: result()}
}

// A stranger's file with the largest accepted number of loads must not keep the
// gate busy: listing their pairs took 32 MB and half a second per benchmark.
func TestManyLoadsAreNotListed(t *testing.T) {
	p := manyLoads(maxLoads)
	for name, compare := range map[string]func() (Change, error){
		"stored": func() (Change, error) { return CompareStored(p.Base, p.Head, "latency", 0.99) },
		"paired": func() (Change, error) { return ComparePair(p, "latency", 0.99) },
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if c, err := compare(); err != nil || !c.Bounded() {
			t.Errorf("%s: %+v %v", name, c, err)
		}
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 8<<20 {
			t.Errorf("%s of %d loads took %d MB", name, maxLoads, took>>20)
		}
	}
}

func BenchmarkManyLoads(b *testing.B) {
	for _, loads := range []int{25, 50, 256, maxLoads} {
		p := manyLoads(loads)
		b.Run("stored/"+strconv.Itoa(loads), func(b *testing.B) {
			for b.Loop() {
				_, _ = CompareStored(p.Base, p.Head, "latency", 0.99)
			}
		})
		b.Run("paired/"+strconv.Itoa(loads), func(b *testing.B) {
			for b.Loop() {
				_, _ = ComparePair(p, "latency", 0.99)
			}
		})
	}
}
