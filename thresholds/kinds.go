package thresholds

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/stat"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// kindPair is a kind of runs on both sides. Of one that only one side has, the other
// is nil.
type kindPair struct{ base, head *bench.Kind }

const (
	// seenWell is how many runs of a kind make it unlikely (e^-7) that it was missed on
	// the other side.
	seenWell = 7
	// shifted is how many standard errors the shares of a kind must be apart.
	shifted = 5
)

// kindsOf are the kinds of the runs of a side.
type kindsOf []bench.Kind

// runs returns the number of runs of all kinds.
func (all kindsOf) runs() (n float64) {
	for _, k := range all {
		n += float64(k.Runs)
	}
	return n
}

// of returns the kinds of a return value, the cheapest first, that have at least so many
// runs.
func (all kindsOf) of(retval uint32, least uint64) (some []*bench.Kind) {
	for i, k := range all {
		if k.Retval == retval && k.Runs >= least {
			some = append(some, &all[i])
		}
	}
	return some
}

// pairKinds pairs the kinds of both sides that have the same return value, if both sides
// have as many of these. It leaves out a kind of one side alone that chance may have kept
// from the other.
func pairKinds(base, head kindsOf) (pairs []kindPair) {
	var retvals []uint32
	for _, k := range slices.Concat(base, head) {
		retvals = append(retvals, k.Retval)
	}
	slices.Sort(retvals)
	for _, retval := range slices.Compact(retvals) {
		b, h := base.of(retval, 0), head.of(retval, 0)
		if len(b) != len(h) {
			b, h = base.of(retval, seenWell), head.of(retval, seenWell)
		}
		if len(b) == len(h) {
			pairs = append(pairs, pairInOrder(b, h, base.runs(), head.runs())...)
			continue
		}
		for _, k := range b {
			pairs = append(pairs, kindPair{base: k})
		}
		for _, k := range h {
			pairs = append(pairs, kindPair{head: k})
		}
	}
	return pairs
}

// pairInOrder pairs kinds by what they cost, the cheapest with the cheapest, and so on, or,
// if only so no share of the runs shifts, the most frequent with the most frequent: a path
// that became dearer than another may change places with it.
func pairInOrder(base, head []*bench.Kind, bases, heads float64) []kindPair {
	inOrder := func() (pairs []kindPair, shifts bool) {
		for i := range base {
			k := kindPair{base[i], head[i]}
			pairs = append(pairs, k)
			shifts = shifts || k.shifts(bases, heads)
		}
		return pairs, shifts
	}
	byCost, shift := inOrder()
	if !shift {
		return byCost
	}
	for _, side := range [][]*bench.Kind{base, head} {
		slices.SortStableFunc(side, func(a, b *bench.Kind) int { return cmp.Compare(b.Runs, a.Runs) })
	}
	if byShare, shift := inOrder(); !shift {
		return byShare
	}
	return byCost
}

// shares returns the share of the kind in the runs of each side, and of both together.
func (k kindPair) shares(bases, heads float64) (base, head, both float64) {
	b, h := float64(k.base.Runs), float64(k.head.Runs)
	return b / bases, h / heads, (b + h) / (bases + heads)
}

// shifts reports whether the shares of both sides differ by more than chance.
func (k kindPair) shifts(bases, heads float64) bool {
	base, head, both := k.shares(bases, heads)
	return math.Abs(head-base) > shifted*math.Sqrt(both*(1-both)*(1/bases+1/heads))
}

// kinds judges the BPF instructions of runs that are of several kinds, each by
// itself. Which share of runs is of a kind may depend on time and chance: a shift
// alone is no regression, but no pass either.
func (j *judgement) kinds(v *Verdict, p *bench.Pair, base, head *bench.Sample, rule *Threshold) {
	var parts []string
	var worst growth
	grew, shrank, unclear := false, false, false
	bases, heads := kindsOf(p.Base.Kinds).runs(), kindsOf(p.Head.Kinds).runs()
	var was, is, paired float64 // sums, with the same shares of the kinds
	for _, k := range pairKinds(p.Base.Kinds, p.Head.Kinds) {
		if k.base == nil || k.head == nil {
			unclear = true
			parts = append(parts, k.alone(p, bases, heads))
			continue
		}
		g := growthFrom(float64(k.base.BPFInsns), float64(k.head.BPFInsns))
		text := fmt.Sprintf("%s %s → %s", bench.RetvalName(p.Head.Type, k.head.Retval), digits(g.base), digits(g.base+g.delta))
		if g.delta != 0 {
			text += fmt.Sprintf(" (%s)", unit.Change(g.share))
		}
		of, now, both := k.shares(bases, heads)
		if k.shifts(bases, heads) {
			unclear = true
			text += fmt.Sprintf(", %s → %s of runs", unit.Share(of), unit.Share(now))
		} else {
			text += fmt.Sprintf(", %s of runs", unit.Share(both))
		}
		parts = append(parts, text)
		was, is, paired = was+both*g.base, is+both*(g.base+g.delta), paired+both
		switch {
		case g.exceeds(rule):
			if !grew || g.share > worst.share {
				worst = g
			}
			grew = true
		case g.mirrored().exceeds(rule):
			shrank = true
		case g.delta > 0:
			v.Allowed = true
		}
	}
	b, h := *base, *head
	if !unclear && paired > 0 {
		b.Values, h.Values = []float64{unit.Round(was / paired)}, []float64{unit.Round(is / paired)}
	}
	if c, err := stat.CompareExact(b, h); err == nil {
		c.Warnings = nil // that they vary is what the kinds tell
		v.Change = &c
	}
	v.Why = "BPF instructions by return value: " + strings.Join(parts, "; ")
	switch {
	case grew:
		v.Outcome = Regression
		v.Why += "; " + allowance(rule, bench.BPFInsns)
		j.excuse(v, worst, j.Now)
	case unclear || len(parts) == 0:
		v.Outcome = Inconclusive
	case shrank:
		v.Outcome = Improvement
	}
	if v.Outcome != Pass {
		v.Allowed = false
	}
}

// alone describes a kind of runs that only one side has.
func (k kindPair) alone(p *bench.Pair, bases, heads float64) string {
	side, one, of := "base", k.base, bases
	if one == nil {
		side, one, of = "head", k.head, heads
	}
	return fmt.Sprintf("%s %s, %s of runs of the %s alone", bench.RetvalName(p.Head.Type, one.Retval), digits(float64(one.BPFInsns)), unit.Share(float64(one.Runs)/of), side)
}
