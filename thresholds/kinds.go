package thresholds

import (
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
	// seenWell is how many runs of a kind make it unlikely (e^-20) that it was missed
	// on the other side.
	seenWell = 20
	// shifted is how many standard errors the shares of a kind must be apart.
	shifted = 5
)

// pairKinds pairs the kinds of both sides that are seen well: of each return value
// the cheapest with the cheapest, and so on, if both sides have as many.
func pairKinds(base, head []bench.Kind) (pairs []kindPair) {
	of := func(kinds []bench.Kind, retval uint32) (all []*bench.Kind) {
		for i, k := range kinds {
			if k.Retval == retval && k.Runs >= seenWell {
				all = append(all, &kinds[i])
			}
		}
		return all
	}
	var retvals []uint32
	for _, k := range slices.Concat(base, head) {
		retvals = append(retvals, k.Retval)
	}
	slices.Sort(retvals)
	for _, retval := range slices.Compact(retvals) {
		b, h := of(base, retval), of(head, retval)
		if len(b) == len(h) {
			for i := range b {
				pairs = append(pairs, kindPair{b[i], h[i]})
			}
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

// kinds judges the BPF instructions of runs that are of several kinds, each by
// itself. Which share of runs is of a kind may depend on time and chance: a shift
// alone is no regression, but no pass either.
func (j *judgement) kinds(v *Verdict, p *bench.Pair, base, head *bench.Sample, rule *Threshold) {
	var parts []string
	var worst growth
	grew, shrank, unclear := false, false, false
	ran := func(kinds []bench.Kind) (n float64) {
		for _, k := range kinds {
			n += float64(k.Runs)
		}
		return n
	}
	bases, heads := ran(p.Base.Kinds), ran(p.Head.Kinds)
	var was, is float64 // the means, with the same shares of the kinds
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
		of, now := float64(k.base.Runs)/bases, float64(k.head.Runs)/heads
		both := (float64(k.base.Runs) + float64(k.head.Runs)) / (bases + heads)
		if math.Abs(now-of) > shifted*math.Sqrt(both*(1-both)*(1/bases+1/heads)) {
			unclear = true
			text += fmt.Sprintf(", %s → %s of runs", unit.Share(of), unit.Share(now))
		} else {
			text += fmt.Sprintf(", %s of runs", unit.Share(both))
		}
		parts = append(parts, text)
		was, is = was+both*g.base, is+both*(g.base+g.delta)
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
	if !unclear {
		b.Values, h.Values = []float64{unit.Round(was)}, []float64{unit.Round(is)}
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
