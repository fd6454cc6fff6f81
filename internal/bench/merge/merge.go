// Package merge joins results that were measured in parts: shards of a suite, or kernels.
package merge

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// MissingError says which shards are in no file.
type MissingError struct {
	Shards bench.Shards
	// Kernel is the kernel whose shards are missing, empty if there is only one kernel.
	Kernel string
}

func (e *MissingError) Error() string {
	of, are := "", "are"
	if e.Kernel != "" {
		of = " of Linux " + e.Kernel
	}
	if len(e.Shards) == 1 {
		are = "is"
	}
	return fmt.Sprintf("%v%s %s in no file", e.Shards, of, are)
}

// Results joins parts into what one invocation would have measured: shards of a suite, or
// the same suite on several kernels. They must be alike in everything that numbers depend
// on, and no benchmark may occur twice on a kernel, except that of what several attempts
// of a workflow measured the last is taken, which the notes say. If shards are missing, the
// results have the others, as partial, and the error is a *MissingError or several joined.
// The joined results are not judged yet: they have neither thresholds nor alerts.
func Results(parts []*bench.Part) (results *bench.Results, notes []string, err error) {
	all, notes := latest(piecesOf(parts))
	if len(all) == 0 {
		return nil, nil, errors.New("there are no results to merge")
	}
	if err := checkSame(all); err != nil {
		return nil, notes, err
	}
	results, err = merge(all)
	return results, notes, err
}

// piece is one run or comparison in a file.
type piece struct {
	file       string
	tool       string
	shard      *bench.Shard
	testbed    *bench.Testbed
	workflow   *bench.Attempt
	run        *bench.Run
	comparison *bench.Comparison
	names      []string
}

func piecesOf(parts []*bench.Part) (all []*piece) {
	for _, p := range parts {
		for _, run := range p.Runs {
			all = append(all, &piece{p.Name, run.Tool, run.Shard, &run.Testbed, run.Workflow, run, nil, resultNames(run.Results)})
		}
		for _, c := range p.Comparisons {
			all = append(all, &piece{p.Name, c.Tool, c.Shard, &c.Testbed, c.Workflow, nil, c, pairNames(c.Pairs)})
		}
	}
	return all
}

func resultNames(results []bench.Result) (names []string) {
	for i := range results {
		names = append(names, results[i].Benchmark)
	}
	return names
}

func pairNames(pairs []bench.Pair) (names []string) {
	for i := range pairs {
		names = append(names, pairs[i].Benchmark)
	}
	return names
}

// merge joins the pieces of each kernel, in the order in which they come.
func merge(all []*piece) (*bench.Results, error) {
	var kernels []string
	on := map[string][]*piece{}
	var empty []*piece
	for _, p := range all {
		if len(p.names) == 0 {
			empty = append(empty, p)
			continue
		}
		if on[p.testbed.Kernel] == nil {
			kernels = append(kernels, p.testbed.Kernel)
		}
		on[p.testbed.Kernel] = append(on[p.testbed.Kernel], p)
	}
	var out bench.Results
	var missing []error
	for _, kernel := range kernels {
		pieces := on[kernel]
		if err := checkKernel(pieces); err != nil {
			return nil, err
		}
		lacking := missingShards(append(pieces[:len(pieces):len(pieces)], empty...))
		if lacking != nil {
			if len(kernels) > 1 {
				lacking.Kernel = kernel
			}
			missing = append(missing, bench.WithHint(lacking, "was its job ended, or its file left behind?"))
		}
		add(&out, pieces, lacking)
	}
	if len(kernels) == 0 {
		return nil, errors.New("no file has a benchmark: all are from shards without any")
	}
	for _, run := range out.Runs {
		run.MissingKernels = missingKernels(run.MissingKernels, all)
	}
	for _, c := range out.Comparisons {
		c.MissingKernels = missingKernels(c.MissingKernels, all)
	}
	return &out, errors.Join(missing...)
}

// missingKernels returns those of the names, each once, whose kernel no piece is of.
func missingKernels(names []string, pieces []*piece) []string {
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	return slices.DeleteFunc(names, func(name string) bool {
		return slices.ContainsFunc(pieces, func(p *piece) bool { return p.testbed.Asked == name })
	})
}

// missingShards returns the shards that are not among the pieces, nil if all are.
func missingShards(pieces []*piece) *MissingError {
	first := pieces[0].shard
	if first == nil {
		return nil
	}
	present := map[int]bool{}
	for _, p := range pieces {
		present[p.shard.Part] = true
	}
	var e MissingError
	for part := 1; part <= first.Of; part++ {
		if !present[part] {
			e.Shards = append(e.Shards, bench.Shard{Part: part, Of: first.Of})
		}
	}
	if len(e.Shards) == 0 {
		return nil
	}
	return &e
}

// add adds the joined pieces of a kernel.
func add(r *bench.Results, pieces []*piece, lacking *MissingError) {
	var missing bench.Shards
	if lacking != nil {
		missing = lacking.Shards
	}
	if pieces[0].run != nil {
		r.Runs = append(r.Runs, mergeRuns(pieces, missing))
		return
	}
	r.Comparisons = append(r.Comparisons, mergeComparisons(pieces, missing))
}

// both returns the shards of two lists, each once.
func both(some, more bench.Shards) bench.Shards {
	all := slices.Concat(some, more)
	slices.SortFunc(all, func(a, b bench.Shard) int { return cmp.Or(cmp.Compare(a.Of, b.Of), cmp.Compare(a.Part, b.Part)) })
	return slices.Compact(all)
}

func mergeRuns(pieces []*piece, missing bench.Shards) *bench.Run {
	out := *pieces[0].run
	out.Shard, out.Thresholds, out.Partial = nil, "", out.Partial || missing != nil
	out.Workflow = commonAttempt(pieces)
	out.Missing = both(missing, out.Missing)
	for _, p := range pieces[1:] {
		out.Missing = both(out.Missing, p.run.Missing)
		out.MissingKernels = append(slices.Clip(out.MissingKernels), p.run.MissingKernels...)
		out.Partial = out.Partial || p.run.Partial
		out.Elapsed += p.run.Elapsed
		out.Measuring += p.run.Measuring
		out.Loads = min(out.Loads, p.run.Loads)
		if p.run.Started.Before(out.Started) {
			out.Started = p.run.Started
		}
	}
	out.Results = inOrder(pieces, func(p *piece) []bench.Result { return p.run.Results })
	for i := range out.Results {
		out.Results[i].Alerts = nil
	}
	return &out
}

func mergeComparisons(pieces []*piece, missing bench.Shards) *bench.Comparison {
	out := *pieces[0].comparison
	out.Shard, out.Thresholds, out.Partial, out.Confirmed = nil, "", out.Partial || missing != nil, nil
	out.Workflow = commonAttempt(pieces)
	out.Missing = both(missing, out.Missing)
	for i, p := range pieces {
		out.Confirmed = append(out.Confirmed, p.comparison.Confirmed...)
		if i == 0 {
			continue
		}
		out.Missing = both(out.Missing, p.comparison.Missing)
		out.MissingKernels = append(slices.Clip(out.MissingKernels), p.comparison.MissingKernels...)
		out.Partial = out.Partial || p.comparison.Partial
		out.Elapsed += p.comparison.Elapsed
		if p.comparison.Started.Before(out.Started) {
			out.Started = p.comparison.Started
		}
	}
	out.Pairs = inOrder(pieces, func(p *piece) []bench.Pair { return p.comparison.Pairs })
	return &out
}

// inOrder joins the elements of pieces: those of shards in the order of the suite, others
// one piece after the other.
func inOrder[T any](pieces []*piece, of func(*piece) []T) []T {
	type placed struct {
		index int
		value T
	}
	var all []placed
	for _, p := range pieces {
		for nth, v := range of(p) {
			index := 0
			if p.shard != nil {
				index = p.shard.Index(nth)
			}
			all = append(all, placed{index, v})
		}
	}
	slices.SortStableFunc(all, func(a, b placed) int { return cmp.Compare(a.index, b.index) })
	values := make([]T, 0, len(all))
	for _, p := range all {
		values = append(values, p.value)
	}
	return values
}
