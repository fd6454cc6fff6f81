// Package stattest simulates paired comparisons for tests: it knows the noise
// of a real machine and, unlike one, the truth.
package stattest

import (
	"math/rand/v2"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// Machine is how a simulated machine measures.
type Machine struct {
	// Net is the cost of the base, Floor that of the empty program, in
	// nanoseconds.
	Net, Floor float64
	// Bias is the standard deviation of a load's effect on the cost, Noise the
	// size of a round's own error, both as shares.
	Bias, Noise float64
	// Loads and Rounds are the number of loads, and of rounds in each.
	Loads, Rounds int
}

// Usual returns a machine as noisy as the virtual ones of a CI service, where
// the median of a load's rounds errs by some 0.2%. Its ten rounds, each with an
// error of 0.25%, stand for a hundred with errors of almost 1%.
func Usual(loads int) Machine {
	return Machine{Net: 200, Floor: 42, Bias: 0.004, Noise: 0.0025, Loads: loads, Rounds: 10}
}

// Pair simulates base, head and again. The head costs growth more than the
// base: 0.01 means 1%.
func (m Machine) Pair(rng *rand.Rand, growth float64) bench.Pair {
	result := func() *bench.Result { return &bench.Result{Benchmark: "simulated"} }
	p := bench.Pair{Benchmark: "simulated", Base: result(), Head: result(), Again: result()}
	for load := range m.Loads {
		costs := []float64{m.Net, m.Net * (1 + growth), m.Net}
		for side := range costs {
			costs[side] *= 1 + m.Bias*rng.NormFloat64()
		}
		for range m.Rounds {
			// All sides of a round share the machine's speed.
			speed := 1 + 0.1*rng.Float64()
			floor := m.Floor * speed * m.error(rng)
			for side, r := range []*bench.Result{p.Base, p.Head, p.Again} {
				add(&r.Rounds, load, (costs[side]+m.Floor)*speed*m.error(rng))
				add(&r.Floor, load, floor)
			}
		}
	}
	for _, r := range []*bench.Result{p.Base, p.Head, p.Again} {
		r.Samples = []bench.Sample{{Measure: bench.Latency, Values: nets(r)}}
	}
	return p
}

// error returns a round's own error: nearly normal, but an interrupt or another
// process delays one round in twenty.
func (m Machine) error(rng *rand.Rand) float64 {
	e := 1 + m.Noise*rng.NormFloat64()
	if rng.IntN(20) == 0 {
		e += m.Noise * 20 * rng.ExpFloat64()
	}
	return e
}

func add(c *bench.Counters, load int, cost float64) {
	const runs = 2000
	c.Add(load, uint64(cost*runs), runs, uint64((cost+60)*runs), 0)
}

func nets(r *bench.Result) []float64 {
	values := make([]float64, len(r.Rounds.RunCnt))
	for i, n := range r.Rounds.RunCnt {
		values[i] = (float64(r.Rounds.RunTimeNS[i]) - float64(r.Floor.RunTimeNS[i])) / float64(n)
	}
	return values
}
