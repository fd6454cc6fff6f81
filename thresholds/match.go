package thresholds

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// subject is what a threshold can apply to: a measure of a benchmark on a kernel, run in a
// mode.
type subject struct {
	benchmark, measure string
	kernel             Kernel
	mode               bench.Mode
}

func subjectOf(benchmark, measure string, t *bench.Testbed) subject {
	return subject{benchmark, measure, KernelOf(t), t.Mode}
}

// isFor reports whether a threshold applies to a subject.
func (t *Threshold) isFor(s subject) bool {
	return t.Measure == s.measure && match(t.Benchmark, s.benchmark) && s.kernel.is(t.Kernel) &&
		(t.Mode == "" || t.Mode == s.mode)
}

// bounds reports whether the threshold says how much a measure may grow. One that only
// ignores says so too: without limit.
func (t *Threshold) bounds() bool {
	return t.Percent != nil || t.Absolute != nil || t.ignores()
}

// ignores reports whether the threshold is nothing but severity: ignore.
func (t *Threshold) ignores() bool {
	return t.Severity == Ignore && !t.hasBudget() && t.History == nil
}

// last returns the last threshold that applies to a subject and passes, from the file or
// else from the built-in policy, or nil.
func (p *Policy) last(s subject, passes func(*Threshold) bool) *Threshold {
	for _, list := range [][]Threshold{p.Thresholds, p.builtin} {
		for i := range slices.Backward(list) {
			if t := &list[i]; t.isFor(s) && passes(t) {
				return t
			}
		}
	}
	return nil
}

// rule returns the threshold that judges growth.
func (p *Policy) rule(s subject) *Threshold { return p.last(s, (*Threshold).bounds) }

// isBuiltin reports whether a threshold is of the built-in policy.
func (p *Policy) isBuiltin(t *Threshold) bool {
	for i := range p.builtin {
		if t == &p.builtin[i] {
			return true
		}
	}
	return false
}

// historyRule returns the threshold that judges a value among earlier ones.
func (p *Policy) historyRule(s subject) *Threshold {
	t := p.last(s, func(t *Threshold) bool { return t.History != nil || t.ignores() })
	if t == nil || t.History == nil {
		return nil
	}
	return t
}

// budgets returns the thresholds with a maximum or a minimum, which must all hold.
func (p *Policy) budgets(s subject) []Threshold {
	var all []Threshold
	for _, t := range slices.Concat(p.builtin, p.Thresholds) {
		if t.hasBudget() && t.Severity != Ignore && t.isFor(s) {
			all = append(all, t)
		}
	}
	return all
}

// match reports whether a name matches a glob. An empty glob matches all. It is called for
// every threshold, measure and benchmark.
func match(glob, name string) bool {
	if glob == "" {
		return true
	}
	// The position of the last star, and of the end of its match in the name so far.
	star, end := -1, 0
	g, n := 0, 0
	for n < len(name) {
		_, size := utf8.DecodeRuneInString(name[n:])
		switch {
		case g < len(glob) && glob[g] == '*':
			star, end = g, n
			g++
		case g < len(glob) && glob[g] == '?':
			g, n = g+1, n+size
		case g < len(glob) && glob[g] == name[n]:
			g, n = g+1, n+1
		case star >= 0:
			_, size := utf8.DecodeRuneInString(name[end:])
			end += size
			g, n = star+1, end
		default:
			return false
		}
	}
	return strings.Trim(glob[g:], "*") == ""
}
