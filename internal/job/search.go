package job

import (
	"context"
	"sync"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/fleet"
	"github.com/org/ebpf-bench-action/internal/sides"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/runner"
)

// Searches searches the programs of a suite with the head's objects on the kernels, as many concurrently as there
// are CPUs. If nothing was searched on a kernel, it has no search, and the error says why.
// After each program, save gets all searches so far.
func (o Options) Searches(ctx context.Context, on *fleet.Fleet, kernels []string, s *suite.Suite, objects *sides.Objects, programs []runner.SearchJob, how runner.SearchOptions, save func(...*bench.Search)) ([]*bench.Search, error) {
	var mu sync.Mutex
	soFar := make([]*bench.Search, len(kernels))
	return fleet.Each(kernels, func(i int, name string) (*bench.Search, error) {
		began := time.Now()
		found, err := o.search(ctx, on, job{Sides: objects, Search: &how}, s, name, programs, func(found bench.Search) {
			mu.Lock()
			defer mu.Unlock()
			soFar[i] = &found
			save(present(soFar)...)
		})
		if found != nil {
			o.done(&found.Testbed, began, err)
		}
		return found, err
	})
}

// search searches on one kernel. A search that ended early comes with the error that ended
// it.
func (o Options) search(ctx context.Context, on *fleet.Fleet, j job, s *suite.Suite, name string, all []runner.SearchJob, save func(bench.Search)) (*bench.Search, error) {
	g, err := j.guest(s)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, p := range all {
		names = append(names, p.Name)
	}
	began := time.Now().UTC().Truncate(time.Second)
	found, info, err := searches.of(ctx, on, name, names, g, func(soFar bench.Search) {
		soFar.Testbed.Asked, soFar.Testbed.ByDefault, soFar.Started = name, o.ByDefault, began
		soFar.Partial = len(soFar.Programs) < len(all)
		save(soFar)
	})
	err = loseSearched(found, all, err)
	if found != nil {
		found.Testbed.Asked, found.Testbed.ByDefault, found.Testbed.QEMU, found.Started = name, o.ByDefault, info.QEMU, info.Started
		found.Partial = err != nil
	}
	return found, err
}

// loseSearched adds the program that was being searched when the machine failed: the first
// that was not reported.
func loseSearched(found *bench.Search, all []runner.SearchJob, err error) error {
	if found == nil || len(found.Programs) >= len(all) || fleet.Loss(err) == "" {
		return err
	}
	p := all[len(found.Programs)].NothingFound()
	r := &bench.Result{Benchmark: p.Benchmark}
	err = fleet.Lose(r, err)
	p.Error, p.Hint = r.Error, r.Hint
	found.Programs = append(found.Programs, p)
	return err
}

var searches = guestReports[bench.Search]{
	decode: bench.DecodeSearch,
	add: func(all, latest *bench.Search) *bench.Search {
		if all != nil {
			latest.Programs = append(all.Programs, latest.Programs...)
		}
		return latest
	},
	done: func(found *bench.Search) int { return len(found.Programs) },
}
