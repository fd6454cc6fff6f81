package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// maxReturned is how many different values of a benchmark are listed.
const maxReturned = 3

// Returned returns text such as "75% XDP_PASS, 25% XDP_DROP", the most frequent
// first, or "" if what the program returned is unknown, or too many values. A program
// that aborts at once is cheap.
func Returned(r *bench.Result) string {
	if len(r.Retvals) > maxReturned {
		return ""
	}
	values := slices.SortedFunc(maps.Keys(r.Retvals), func(a, b uint32) int {
		return cmp.Or(cmp.Compare(r.Retvals[b], r.Retvals[a]), cmp.Compare(a, b))
	})
	var parts []string
	for _, v := range values {
		name := bench.RetvalName(r.Type, v)
		if len(values) > 1 {
			name = unit.Share(returnShare(r, v)) + " " + name
		}
		parts = append(parts, name)
	}
	return strings.Join(parts, ", ")
}

// returnShare returns the share of the calls that returned v.
func returnShare(r *bench.Result, v uint32) float64 {
	var calls uint64
	for _, n := range r.Retvals {
		calls += n
	}
	return float64(r.Retvals[v]) / float64(max(calls, 1))
}

// otherReturns is by how much the share of a return value differs if not by chance: few
// calls of a benchmark are on record.
const otherReturns = 0.1

// OtherWork says in what the sides of a pair differ so that their costs are those of other
// work: their type, or what they return.
func OtherWork(p *bench.Pair) (all []string) {
	if p.Base == nil || p.Head == nil || p.Base.Error != "" || p.Head.Error != "" {
		return nil
	}
	if b, h := p.Base.Type, p.Head.Type; b != h && b != "" && h != "" {
		return []string{"is a program of type " + escape.Printable(h) + ", and of type " + escape.Printable(b) + " on the base: its costs are those of other work"}
	}
	if len(p.Base.Retvals) == 0 || len(p.Head.Retvals) == 0 {
		return nil
	}
	for _, of := range []map[uint32]uint64{p.Base.Retvals, p.Head.Retvals} {
		for v := range of {
			if b, h := returnShare(p.Base, v), returnShare(p.Head, v); b-h > otherReturns || h-b > otherReturns {
				return []string{"returns " + cmp.Or(Returned(p.Head), "other values") + ", and " + cmp.Or(Returned(p.Base), "others") + " on the base: its costs may be those of other work"}
			}
		}
	}
	return nil
}

// FreshRuns says that each run had a call of its own, and why, or returns "".
func FreshRuns(r *bench.Result) string {
	if r == nil || r.Fresh == "" || r.Error != "" {
		return ""
	}
	return escape.Printable("each run had a call of its own, since it depends on " + r.Fresh + " that others leave")
}
