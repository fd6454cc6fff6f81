package branch

import (
	"errors"
	"testing"

	"github.com/org/ebpf-bench-action/internal/baseline"
)

// chain makes commits 0 to n-1, each the parent of the one before it, and
// returns their names.
func (f *fake) chain(n int) []string {
	var all []string
	for i := range n {
		all = append(all, commitOf(i))
		f.Parents[commitOf(i)] = []string{commitOf(i + 1)}
	}
	delete(f.Parents, commitOf(n-1))
	return all
}

func TestTheBaselineOfACommitOrItsNearestAncestor(t *testing.T) {
	f := newFake(t)
	commits := f.chain(300)
	b := f.branch("")
	for _, i := range []int{5, 240, 999} {
		if _, err := b.Save(t.Context(), testEntry(i)); err != nil {
			t.Fatal(err)
		}
	}
	for at, want := range map[int]int{0: 5, 5: 5, 6: 240, 240: 240} {
		found, _, err := f.api().FindBaseline(t.Context(), b, baseline.Query{Branches: []string{"main"}}, commits[at])
		if err != nil || found.Commit != commitOf(want) || found.Distance != want-at {
			t.Errorf("from %d: %+v, %v", at, found, err)
		}
	}
	for what, q := range map[string]baseline.Query{"no such run": {Branches: []string{"other"}}, "no such ancestor": {}} {
		if _, _, err := f.api().FindBaseline(t.Context(), b, q, commits[250]); !errors.Is(err, baseline.ErrNotFound) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if n := f.Count("GET /repos/o/r/commits"); n > 10 {
		t.Errorf("%d requests for commits", n)
	}
}
