package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/thresholds"
)

// maxRows is how many rows a table has before those that passed are left out:
// nobody reads further, and what matters would scroll away.
const maxRows = 200

// finding is a verdict and its benchmark.
type finding struct {
	row     *row
	verdict *thresholds.Verdict
}

// standing returns the standing of the verdict.
func (f *finding) standing() standing { return standingOf(f.verdict) }

// dearer reports whether the finding is that a benchmark regressed, also under a new name.
func (f *finding) dearer() bool {
	s := f.standing()
	return s == regressed || s == warned && f.verdict == f.row.main && f.row.LooksLike != ""
}

// findings returns the verdicts to report, what matters most first. A benchmark
// of only one side is one finding, not one per measure. all adds those that
// passed.
func findings(rows []row, all bool) []finding {
	var found []finding
	for i := range rows {
		r := &rows[i]
		oneSided := false
		for _, v := range r.verdicts() {
			s := standingOf(v)
			if s.oneSided() {
				if oneSided {
					continue
				}
				oneSided = true
			}
			// An allowed change is of interest only in the cost of a run.
			if alone := s.listed() && (s != allowed || v == r.main); alone || all && (s == allowed || s == passed) {
				found = append(found, finding{r, v})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b finding) int { return cmp.Compare(a.standing(), b.standing()) })
	return found
}

// verdicts returns all verdicts of the benchmark, the main one first.
func (r *row) verdicts() []*thresholds.Verdict {
	if r.main == nil {
		return r.others
	}
	return append([]*thresholds.Verdict{r.main}, r.others...)
}

// otherFindings returns the verdicts on the other measures that changed, did
// not pass or were not judged, and the names of the measures that were compared
// and did not change.
func otherFindings(rows []row, all bool) (found []finding, unchanged []string) {
	changed := map[string]bool{}
	var compared []string
	for i := range rows {
		r := &rows[i]
		for _, v := range r.others {
			s := standingOf(v)
			switch {
			case s == ignored, s.oneSided():
			case s == inconclusive && v.Change == nil && r.main != nil && v.Why == r.main.Why:
				// Such as all numbers of another testbed.
			case s.listed(), s == unjudged, significant(v), all:
				found = append(found, finding{r, v})
				changed[v.Measure.Name] = changed[v.Measure.Name] || s.listed() || significant(v)
			}
			if s != ignored && v.Change != nil && !slices.Contains(compared, v.Measure.Name) {
				compared = append(compared, v.Measure.Name)
			}
		}
	}
	for _, name := range compared {
		if !changed[name] {
			unchanged = append(unchanged, name)
		}
	}
	return found, unchanged
}

// foldedFinding is a finding that one or several kernels share.
type foldedFinding struct {
	finding
	kernels []string
	// name includes the kernels if there are several.
	name, base, head string
}

// folded joins equal findings of several kernels.
func folded(m *Model, found []finding) []foldedFinding {
	var all []foldedFinding
	at := map[string]int{}
	for _, f := range found {
		base, head := f.row.figures(f.verdict)
		key := strings.Join([]string{f.row.Benchmark, f.verdict.Measure.Name, base, head, delta(f.verdict), interval(f.verdict), f.standing().String()}, "\x00")
		i, ok := at[key]
		if !ok {
			i = len(all)
			at[key] = i
			all = append(all, foldedFinding{finding: f, base: base, head: head})
		}
		all[i].kernels = append(all[i].kernels, f.row.kernel)
		all[i].name = m.named(f.row.Benchmark, all[i].kernels)
	}
	return all
}

// shown leaves out what passed if a table would be too long, and says so.
func shown[T any](m *Model, rows []T, keep func(*T) bool, what string) ([]T, string) {
	if m.Verbose || len(rows) <= maxRows {
		return rows, ""
	}
	var kept []T
	for i := range rows {
		if keep(&rows[i]) {
			kept = append(kept, rows[i])
		}
	}
	if len(kept) == len(rows) {
		return rows, ""
	}
	return kept, m.wrap(fmt.Sprintf("%s of %s %s and are not shown", unit.Exact(float64(len(rows)-len(kept))), unit.Exact(float64(len(rows))), what)) + "\n"
}

// keep reports whether the row of a benchmark stays in a table that is too
// long.
func (r *row) keep() bool {
	s := r.gating()
	return s.listed() || s == unjudged && r.driver() != "verify"
}
