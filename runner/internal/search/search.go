package search

import (
	"bytes"
	"context"
	"math/bits"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/org/ebpf-bench-action/internal/mutate"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/runner/internal/progrun"
)

// Options bound a search. A search by runs can be repeated: with the same seed and start
// it finds the same, unless time or chance decides what the program executes.
type Options struct {
	// Runs is how many inputs are tried, and Time for how long. If either is 0, the other
	// decides.
	Runs int
	Time time.Duration
	Seed uint64
	// Start are tried first. The first is what the benchmark gives the program.
	Start []Input
	// Progress, unless nil, is called a few times a second.
	Progress func(Progress)
}

// Progress is how far a search has come.
type Progress struct {
	Runs    int
	Blocks  int     // reached
	Highest float64 // instructions of a run
}

// MostPackets is how many packets an input has at most, unless it is one to start with.
const MostPackets = 4

// Kept is an input that a search keeps.
type Kept struct {
	Input
	Executed uint64 // BPF instructions of all its runs
	Reached  Blocks // by its runs
	// tried says that its neighbours were tried.
	tried bool
	fresh int // how much none before it did
}

// PerRun returns how many BPF instructions a run executes, the mean of its runs, rounded as
// those of benchmarks are.
func (k *Kept) PerRun() float64 { return unit.Round(float64(k.Executed) / float64(k.runs())) }

// runs returns how many runs an input has.
func (in *Input) runs() int { return max(len(in.Packets), 1) }

// Blocks is a set of blocks, of all programs of the target.
type Blocks []uint64

func (b Blocks) add(i int)      { b[i/64] |= 1 << (i % 64) }
func (b Blocks) has(i int) bool { return b[i/64]>>(i%64)&1 != 0 }

// Len returns how many blocks are in the set.
func (b Blocks) Len() (n int) {
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// search is a search in progress.
type search struct {
	Options
	ctx     context.Context
	target  *Target
	rand    *rand.Rand
	mutator mutate.Mutator
	fields  []progrun.Field
	size    int // of a context

	tries, refused, unsteady int
	even                     int // tries when half of them had been made by chance
	err                      error
	refusal                  error // the latest
	began, told              time.Time
	over                     bool

	paths map[uint64]struct{}
	now   []uint64 // how often the latest input executed each block
	total uint64   // the instructions that it executed
	// of each block, the orders of magnitude of how often a run of some input executed it,
	// the most, and the input that did
	orders []uint64
	most   []uint64
	holder []*Kept

	sometimes   Blocks // that were executed by inputs that do not always do so
	start, kept []*Kept
	// worst costs most, plain most of those without entries of maps.
	worst, plain *Kept
	queue        []*Kept // whose neighbours are to be tried
}

// mostPaths bounds the digests that are remembered.
const mostPaths = 1 << 20

func newSearch(ctx context.Context, t *Target, o Options) *search {
	s := &search{Options: o, ctx: ctx, target: t, rand: rand.New(rand.NewPCG(o.Seed, 0)), fields: progrun.Types[t.typ].Fields, paths: map[uint64]struct{}{}, began: time.Now()}
	s.mutator = mutate.Mutator{Rand: s.rand, Longest: 1514}
	for _, f := range s.fields {
		s.size = max(s.size, f.At+f.Size)
	}
	n := 0
	for _, p := range t.Programs() {
		n += len(p.Blocks)
	}
	s.now, s.orders, s.most, s.holder = make([]uint64, n), make([]uint64, n), make([]uint64, n), make([]*Kept, n)
	s.sometimes = s.none()
	return s
}

// run tries inputs until the search is over.
func (s *search) run() error {
	for i := range s.Start {
		s.start = append(s.start, s.try(&s.Start[i]))
	}
	if progrun.TakesPackets(s.target.typ) {
		for _, frame := range mutate.Frames() {
			s.try(&Input{Packets: [][]byte{frame}})
		}
	} else {
		s.try(&Input{})
	}
	for len(s.kept) == 0 && !s.done() { // the kernel refused all of them
		s.try(s.blank())
	}
	s.even = s.tries
	for !s.done() {
		if k := s.next(); k != nil {
			s.neighbours(k)
		}
		s.byChance(max(s.tries-s.even, atOnce))
	}
	return s.err
}

// atOnce is how many neighbours are tried before others come first.
const atOnce = 1000

// ended is done for the search among neighbours, which may be more than the search has time
// for: at least half of all inputs are made by chance.
func (s *search) ended() bool {
	if n := s.tries - s.even; n >= atOnce {
		s.byChance(n)
	}
	return s.done()
}

// byChance tries inputs that are made by chance.
func (s *search) byChance(n int) {
	for range n {
		if s.done() {
			break
		}
		s.try(s.mutant())
	}
	s.even = s.tries
}

// next returns the next input whose neighbours are to be tried, or nil.
func (s *search) next() *Kept {
	for len(s.queue) > 0 {
		k := s.queue[0]
		s.queue = s.queue[1:]
		if !k.tried && (k.fresh > 0 || k == s.worst || k == s.plain) {
			k.tried = true
			return k
		}
	}
	return nil
}

// done reports whether the search is over.
func (s *search) done() bool {
	const look = 64 // inputs between two looks at the clock
	switch {
	case s.over || s.err != nil:
	case s.Runs > 0 && s.tries >= s.Runs:
	case s.tries%look != 0:
		return false
	case s.ctx.Err() != nil:
	case s.Time > 0 && time.Since(s.began) >= s.Time:
	default:
		s.tell()
		return false
	}
	s.over = true
	return true
}

func (s *search) tell() {
	const each = 200 * time.Millisecond
	if s.Progress == nil || time.Since(s.told) < each {
		return
	}
	s.told = time.Now()
	p := Progress{Runs: s.tries, Blocks: s.reached().Len()}
	if s.worst != nil {
		p.Highest = s.worst.PerRun()
	}
	s.Progress(p)
}

// reached returns the blocks that some input reached.
func (s *search) reached() Blocks {
	all := s.none()
	for b, orders := range s.orders {
		if orders != 0 || s.sometimes.has(b) {
			all.add(b)
		}
	}
	return all
}

func (s *search) none() Blocks { return make(Blocks, (len(s.now)+63)/64) }

// try runs an input and returns it if it is kept, because it executes what none before it
// did, or more.
func (s *search) try(in *Input) *Kept {
	if s.done() {
		return nil
	}
	digest, ok := s.evaluate(s.target.Run, in)
	s.tries++
	if !ok || s.knows(digest) || !s.better(in) {
		return nil
	}
	// Were it for what earlier inputs left, or for chance, it would not execute that again.
	for i, run := range []runner{s.target.Confirm, s.target.Run, s.target.Run} {
		again, ok := s.evaluate(run, in)
		if !ok {
			return nil
		}
		if again == digest {
			continue
		}
		s.chance()
		if digest = again; i > 0 || s.knows(digest) || !s.better(in) {
			return nil
		}
	}
	return s.keep(in)
}

// chance notes that an input executes now this, now that.
func (s *search) chance() {
	s.unsteady++
	for b, n := range s.now {
		if n > 0 {
			s.sometimes.add(b)
		}
	}
}

// runner is Target.Run or Target.Confirm.
type runner func(context.Context, *Input) (digest uint64, err error)

// evaluate runs an input. It reports whether the kernel did.
func (s *search) evaluate(run runner, in *Input) (digest uint64, ok bool) {
	digest, err := run(s.ctx, in)
	if isRefused(err) {
		s.refused++
		s.refusal = err
		return 0, false
	}
	if err != nil {
		s.err = err
		return 0, false
	}
	return digest, true
}

// knows reports whether inputs with that digest were tried. If not, it takes what the
// latest one executed.
func (s *search) knows(digest uint64) bool {
	if _, ok := s.paths[digest]; ok {
		return true
	}
	if len(s.paths) >= mostPaths {
		clear(s.paths)
	}
	s.paths[digest] = struct{}{}
	s.take()
	return false
}

// take takes what the latest input executed.
func (s *search) take() {
	counts := s.target.Counts()
	s.total = counts.Total()
	i := 0
	for _, program := range counts.Blocks() {
		i += copy(s.now[i:], program)
	}
}

// perRun returns how often a run of an input executes a block, rounded up.
func perRun(n uint64, in *Input) uint64 { return (n + uint64(in.runs()) - 1) / uint64(in.runs()) }

// better reports whether the latest input is worth keeping.
func (s *search) better(in *Input) bool {
	if s.costsMore(in, s.worst) || len(in.Entries) == 0 && s.costsMore(in, s.plain) {
		return true
	}
	for b, n := range s.now {
		if n = perRun(n, in); n > s.most[b] || s.orders[b]>>order(n)&1 == 0 && n > 0 {
			return true
		}
	}
	return false
}

// order returns the order of magnitude of a count, below 64.
func order(n uint64) int { return min(bits.Len64(n), 63) }

// costsMore reports whether the latest input costs more per run than another, which may be
// nil.
func (s *search) costsMore(in *Input, than *Kept) bool {
	return than == nil || float64(s.total)/float64(in.runs()) > than.PerRun()
}

// keep keeps the latest input.
func (s *search) keep(in *Input) *Kept {
	k := &Kept{Input: *in, Executed: s.total, Reached: s.none()}
	k.Packets = slices.Clone(k.Packets)
	for i := range k.Packets {
		k.Packets[i] = bytes.Clone(k.Packets[i])
	}
	k.Context, k.Entries = bytes.Clone(k.Context), slices.Clone(k.Entries)
	for b, n := range s.now {
		if n > 0 {
			k.Reached.add(b)
		}
		if n = perRun(n, in); n == 0 {
			continue
		}
		if s.orders[b]>>order(n)&1 == 0 {
			s.orders[b] |= 1 << order(n)
			k.fresh++
		}
		if n > s.most[b] {
			s.most[b], s.holder[b] = n, k
		}
	}
	if s.costsMore(in, s.worst) {
		s.worst = k
	}
	if len(in.Entries) == 0 && s.costsMore(in, s.plain) {
		s.plain = k
	}
	if k.fresh > 0 || len(s.kept) == 0 {
		s.kept = append(s.kept, k)
	}
	s.queue = append(s.queue, k)
	return k
}
