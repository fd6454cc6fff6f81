package search

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// Found is what a search found.
type Found struct {
	// Runs is how many inputs were tried, Refused how many of them the kernel did not run,
	// and Unsteady how many executed something else when they were tried again: what time or
	// chance decides, or what other inputs left where it cannot be reset.
	Runs, Refused, Unsteady int
	// Refusal is why the kernel did not run the last one that it did not.
	Refusal error
	// Default is what the benchmark gives the program. It is nil if that cannot be run, or
	// does not always execute the same.
	Default *Kept
	// Worst is the input that costs most, and Plain that of packets and context alone. They
	// are nil if none always executes the same.
	Worst, Plain *Kept
	// Cover are inputs that reach with Default, Worst and Plain all that any input reached.
	Cover []*Kept
	// Before are the blocks that Default reached, Reached those that any input did, and
	// Alive those that the verifier found may be reached, or nil if that is not known.
	Before, Reached, Alive Blocks
}

// Search searches. An error of the context ends it like the time does.
func Search(ctx context.Context, t *Target, o Options) (*Found, error) {
	s := newSearch(ctx, t, o)
	if err := s.run(); err != nil && ctx.Err() == nil {
		return nil, err
	}
	s.ctx = context.WithoutCancel(ctx) // what was found is worth the rest
	s.err = nil
	f := &Found{Runs: s.tries, Refused: s.refused, Refusal: s.refusal, Unsteady: s.unsteady, Before: s.none(), Reached: s.reached(), Alive: s.alive()}
	if len(s.start) > 0 && s.start[0] != nil && s.steady(s.start[0]) {
		f.Default = s.start[0]
		copy(f.Before, f.Default.Reached)
	}
	f.Worst = s.dearest(func(*Kept) bool { return true })
	if f.Plain = f.Worst; f.Worst != nil && len(f.Worst.Entries) > 0 {
		f.Plain = s.dearest(func(k *Kept) bool { return len(k.Entries) == 0 })
	}
	for _, k := range []**Kept{&f.Worst, &f.Plain} {
		if *k != nil && f.Default != nil && (*k).PerRun() <= f.Default.PerRun() {
			*k = f.Default
		}
	}
	f.Cover = s.cover(f.Default, f.Worst, f.Plain)
	return f, s.err
}

// Unreached returns the blocks that a run may reach and no input did.
func (f *Found) Unreached() Blocks {
	left := slices.Clone(f.Alive)
	for i := range left {
		left[i] &^= f.Reached[i]
	}
	return left
}

// Named is an input under the name that a report gives it.
type Named struct {
	Name string
	*Kept
	New int // blocks that none before it reached
}

// Inputs returns the inputs that were found, each once.
func (f *Found) Inputs() (all []Named) {
	left := slices.Clone(f.Reached)
	add := func(name string, k *Kept) {
		if k == nil || slices.ContainsFunc(all, func(n Named) bool { return n.Kept == k }) {
			return
		}
		all = append(all, Named{name, k, left.common(k.Reached)})
		left.remove(k)
	}
	add(bench.InputDefault, f.Default)
	add(bench.InputWorst, f.Worst)
	add(bench.InputWorstPacket, f.Plain)
	for i, k := range f.Cover {
		add(fmt.Sprintf("cover-%d", i+1), k)
	}
	return all
}

// repeats is how often an input must execute the same before it is shown.
const repeats = 20

// steady reports whether an input always executes the same.
func (s *search) steady(k *Kept) bool {
	for range repeats {
		if again := s.measured(s.target.Run, k.Input); again == nil || again.Executed != k.Executed || !slices.Equal(again.Reached, k.Reached) {
			return false
		}
	}
	return true
}

// dearest returns the input that costs most of those that are wanted and steady, or nil.
func (s *search) dearest(wanted func(*Kept) bool) *Kept {
	all := slices.Concat(s.kept, s.holder, []*Kept{s.worst, s.plain})
	all = slices.DeleteFunc(all, func(k *Kept) bool { return k == nil || !wanted(k) })
	slices.SortStableFunc(all, func(a, b *Kept) int { return cmp.Compare(b.PerRun(), a.PerRun()) })
	for i, k := range all {
		if i > 0 && k == all[i-1] || !s.steady(k) {
			continue
		}
		if small := s.smallest(k, func(other *Kept) bool { return wanted(other) && other.PerRun() >= k.PerRun() }); s.steady(small) {
			return small
		}
		return k
	}
	return nil
}

// alive returns the blocks that may be reached.
func (s *search) alive() Blocks {
	if s.target.Alive == nil {
		return nil
	}
	all, i := s.none(), 0
	for _, program := range s.target.Alive {
		for _, alive := range program {
			if alive || s.orders[i] != 0 || s.sometimes.has(i) {
				all.add(i)
			}
			i++
		}
	}
	return all
}

// cover returns a small set of inputs that reach all that any did, beside what some
// others do. Which inputs are the fewest is hard to know; this takes one after the other
// that adds most.
func (s *search) cover(others ...*Kept) (set []*Kept) {
	left := s.reached()
	for _, k := range others {
		left.remove(k)
	}
	for left.Len() > 0 {
		var best *Kept
		most := 0
		for _, k := range s.kept {
			n := left.common(k.Reached)
			if n > most || n == most && n > 0 && k.simpler(best) {
				best, most = k, n
			}
		}
		if best == nil {
			break
		}
		adds := slices.Clone(left)
		for i := range adds {
			adds[i] &= best.Reached[i]
		}
		left.remove(best)
		best = s.smallest(best, func(k *Kept) bool { return adds.common(k.Reached) == adds.Len() })
		if left.remove(best); s.steady(best) {
			set = append(set, best)
		}
	}
	return set
}

// remove takes out the blocks that an input reached, if there is one.
func (b Blocks) remove(k *Kept) {
	if k == nil {
		return
	}
	for i := range b {
		b[i] &^= k.Reached[i]
	}
}

// common returns how many blocks are in both sets.
func (b Blocks) common(other Blocks) int {
	both := slices.Clone(b)
	for i := range both {
		both[i] &= other[i]
	}
	return both.Len()
}

// simpler reports whether an input is easier to understand than another.
func (k *Kept) simpler(than *Kept) bool {
	sizes := func(k *Kept) []int {
		n := 0
		for _, p := range k.Packets {
			n += len(p)
		}
		return []int{len(k.Entries), len(k.Packets), len(k.Context), n}
	}
	return slices.Compare(sizes(k), sizes(than)) < 0
}
