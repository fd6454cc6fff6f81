package job

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/fleet"
	"github.com/org/ebpf-bench-action/internal/sides"
)

// Comparisons compares two sides on the kernels, as many concurrently as there are CPUs.
// If nothing was measured on a kernel, it has no comparison, and the error says why. After
// each pair, save gets all comparisons so far.
func (o Options) Comparisons(ctx context.Context, on *fleet.Fleet, kernels []string, m *sides.Matchup, save func(...*bench.Comparison)) ([]*bench.Comparison, error) {
	var mu sync.Mutex
	soFar := make([]*bench.Comparison, len(kernels))
	all, err := fleet.Each(kernels, func(i int, name string) (*bench.Comparison, error) {
		began := time.Now()
		c, err := o.compare(ctx, on, m, name, func(c bench.Comparison) {
			mu.Lock()
			defer mu.Unlock()
			soFar[i] = &c
			save(lackKernels(kernels, soFar)...)
		})
		if c != nil {
			o.done(&c.Testbed, began, err)
		}
		return c, err
	})
	return lackKernels(kernels, all), err
}

// lackKernels returns those of the comparisons that there are, with the kernels that have none.
func lackKernels(kernels []string, all []*bench.Comparison) []*bench.Comparison {
	all = present(all)
	for i, c := range all {
		one := *c
		one.MissingKernels = missing(kernels, all, func(c *bench.Comparison) string { return c.Testbed.Asked })
		all[i] = &one
	}
	return all
}

// present returns those results that there are.
func present[T any](all []*T) []*T {
	return slices.DeleteFunc(slices.Clone(all), func(t *T) bool { return t == nil })
}

// missing returns the kernels that are not among the names of results.
func missing[T any](kernels []string, all []T, name func(T) string) []string {
	return slices.DeleteFunc(slices.Clone(kernels), func(kernel string) bool {
		return slices.ContainsFunc(all, func(t T) bool { return name(t) == kernel })
	})
}

// compare compares on one kernel. A comparison that ended early comes with the error that
// ended it.
func (o Options) compare(ctx context.Context, on *fleet.Fleet, m *sides.Matchup, name string, save func(bench.Comparison)) (*bench.Comparison, error) {
	g, err := job{Budget: o.Budget, Seed: o.Seed, Sides: &m.Objects}.guest(m.Suite)
	if err != nil {
		return nil, err
	}
	all := pairNames(m.Pairs)
	began := time.Now().UTC().Truncate(time.Second)
	c, info, err := comparisons.of(ctx, on, name, all, g, func(soFar bench.Comparison) {
		// The clock of a virtual machine does not tell the real time.
		soFar.Testbed.Asked, soFar.Testbed.ByDefault, soFar.Started = name, o.ByDefault, began
		m.Name(&soFar)
		save(soFar)
	})
	err = losePair(c, all, err)
	if c != nil {
		c.Testbed.Asked, c.Testbed.ByDefault, c.Testbed.QEMU, c.Started = name, o.ByDefault, info.QEMU, info.Started
		c.Partial = c.Partial || err != nil
		m.Name(c)
	}
	return c, err
}

// losePair adds the pair that was being measured when the machine failed: the first that
// was not reported.
func losePair(c *bench.Comparison, all []string, err error) error {
	if c == nil || len(c.Pairs) >= len(all) || fleet.Loss(err) == "" {
		return err
	}
	name := all[len(c.Pairs)]
	head := &bench.Result{Benchmark: name}
	c.Pairs = append(c.Pairs, bench.Pair{Benchmark: name, Base: &bench.Result{Benchmark: name}, Head: head})
	return fleet.Lose(head, err)
}

var comparisons = guestReports[bench.Comparison]{
	decode: bench.DecodeComparison,
	add: func(all, latest *bench.Comparison) *bench.Comparison {
		if all != nil {
			latest.Pairs = append(all.Pairs, latest.Pairs...)
			latest.Confirmed = append(all.Confirmed, latest.Confirmed...)
		}
		return latest
	},
	done: func(c *bench.Comparison) int { return len(c.Pairs) },
}
