package merge

import (
	"slices"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// Of what several attempts of a workflow measured the last counts, whatever its file is
// called.
func TestLatest(t *testing.T) {
	of := func(file, shard string, run int64, attempt int, benchmarks string) *bench.Part {
		r := runOf(exactTestbed("6.12"), shard, benchmarks)
		if attempt > 0 {
			r.Workflow = &bench.Attempt{Run: run, Number: attempt}
		}
		return part(t, file, r)
	}
	ofKernel := func(p *bench.Part, kernel string) *bench.Part {
		p.Runs[0].Testbed.Kernel = kernel
		return p
	}
	for name, c := range map[string]struct {
		parts []*bench.Part
		kept  string
		notes []string
	}{
		"one attempt": {[]*bench.Part{of("1", "1/2", 7, 1, "a"), of("2", "2/2", 7, 1, "b")}, "1 2", nil},
		"a shard again": {
			[]*bench.Part{of("new", "1/2", 7, 2, "a"), of("old", "1/2", 7, 1, "a"), of("2", "2/2", 7, 1, "b")},
			"new 2",
			[]string{"old is of attempt 1 of workflow run 7 and not judged: new is of attempt 2 of workflow run 7", "not measured again in attempt 2 of workflow run 7: 2"},
		},
		"another run": {
			[]*bench.Part{of("1", "", 7, 2, "a b"), of("2", "", 8, 1, "a")},
			"2",
			[]string{"1 is of attempt 2 of workflow run 7 and not judged: 2 is of attempt 1 of workflow run 8"},
		},
		"another shard":     {[]*bench.Part{of("1", "1/2", 7, 1, "a"), of("2", "2/2", 7, 2, "b")}, "1 2", []string{"not measured again in attempt 2 of workflow run 7: 1"}},
		"another kernel":    {[]*bench.Part{of("1", "", 7, 1, "a"), ofKernel(of("2", "", 7, 2, "a"), "6.1")}, "1 2", []string{"not measured again in attempt 2 of workflow run 7: 1"}},
		"unknown":           {[]*bench.Part{of("1", "", 0, 0, "a"), of("2", "", 7, 1, "a")}, "1 2", nil},
		"the same attempt":  {[]*bench.Part{of("1", "", 7, 1, "a"), of("2", "", 7, 1, "a")}, "1 2", nil},
		"nothing in common": {[]*bench.Part{of("1", "", 7, 1, "a"), of("2", "", 7, 2, "b")}, "1 2", []string{"not measured again in attempt 2 of workflow run 7: 1"}},
	} {
		pieces, notes := latest(piecesOf(c.parts))
		var kept []string
		for _, p := range pieces {
			kept = append(kept, p.file)
		}
		if strings.Join(kept, " ") != c.kept || !slices.Equal(notes, c.notes) {
			t.Errorf("%s: %q, %q", name, kept, notes)
		}
	}
}

// A base that moved between two attempts is no mistake of the user's.
func TestLatestBase(t *testing.T) {
	first, second := comparisonOf(exactTestbed("6.12"), "1/2", "a"), comparisonOf(exactTestbed("6.12"), "2/2", "b")
	first.Workflow, second.Workflow, second.Base.Commit = &bench.Attempt{Run: 7, Number: 1}, &bench.Attempt{Run: 7, Number: 2}, "def"
	_, _, err := Results([]*bench.Part{part(t, "1", first), part(t, "2", second)})
	if hint := bench.Hint(err); hint != "the base moved between two attempts of the workflow: re-run all its jobs" {
		t.Errorf("%v: %q", err, hint)
	}
}
