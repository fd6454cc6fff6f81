package baseline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// Query selects runs that match all fields that are set. The zero Query matches every run.
type Query struct {
	// Branches are alternatives; none means every branch.
	Branches []string
	// Commit is a commit or its beginning, of at least minCommit digits.
	Commit string
	Tag    string
	// Testbed is a testbed's Key.
	Testbed string
	// Before matches runs that started before it; the zero time matches any.
	Before time.Time
	// Limit is how many runs are returned, the newest ones; 0 means all.
	Limit int
}

// Apply returns the runs that match, the newest first.
func (q Query) Apply(runs []Meta) ([]Meta, error) {
	if err := q.checkCommit(runs); err != nil {
		return nil, err
	}
	runs = slices.DeleteFunc(runs, func(m Meta) bool { return !q.matches(m) })
	slices.SortFunc(runs, NewestFirst)
	if q.Limit > 0 && len(runs) > q.Limit {
		runs = runs[:q.Limit]
	}
	return runs, nil
}

// NewestFirst orders runs by their time.
func NewestFirst(a, b Meta) int { return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(b.ID, a.ID)) }

func (q Query) matches(m Meta) bool {
	return (len(q.Branches) == 0 || slices.Contains(q.Branches, m.Branch)) &&
		strings.HasPrefix(m.Commit, strings.ToLower(q.Commit)) &&
		(q.Testbed == "" || q.Testbed == m.Testbed) &&
		(q.Before.IsZero() || m.Time.Before(q.Before)) &&
		(q.Tag == "" || slices.Contains(m.Tags, q.Tag))
}

// checkCommit checks the beginning of a commit as git does: it must be long enough, and
// stand for one commit among all that are known.
func (q Query) checkCommit(runs []Meta) error {
	if q.Commit == "" {
		return nil
	}
	if err := CheckCommit(strings.ToLower(q.Commit)); err != nil {
		return fmt.Errorf("find commit: %w", err)
	}
	var commits []string
	for _, m := range runs {
		if strings.HasPrefix(m.Commit, strings.ToLower(q.Commit)) {
			commits = append(commits, m.Commit)
		}
	}
	slices.Sort(commits)
	commits = slices.Compact(commits)
	if len(commits) > 1 {
		return bench.WithHint(
			fmt.Errorf("find commit %s: %w: it begins %d commits of the baseline", q.Commit, ErrAmbiguous, len(commits)),
			"say more of it: "+strings.Join(commits[:2], " or "))
	}
	return nil
}

// notFound returns the error that no run matches.
func (q Query) notFound() error {
	var of []string
	if len(q.Branches) > 0 {
		of = append(of, fmt.Sprintf(" of branch %q", strings.Join(q.Branches, " or ")))
	}
	for _, part := range []struct{ what, value string }{
		{"commit", q.Commit}, {"tag", q.Tag}, {"testbed", q.Testbed},
	} {
		if part.value != "" {
			of = append(of, fmt.Sprintf(" of %s %q", part.what, part.value))
		}
	}
	return fmt.Errorf("find a run%s: %w", strings.Join(of, ""), ErrNotFound)
}
