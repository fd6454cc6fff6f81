package github

import (
	"errors"
	"fmt"
	"testing"

	"github.com/org/ebpf-bench-action/internal/baseline"
)

func pull(number int, repo, ref, sha string) map[string]any {
	return map[string]any{"number": number, "head": map[string]any{"ref": ref, "sha": sha, "repo": map[string]any{"full_name": repo}}}
}

func TestThePullRequestIsTheOneWithThatHead(t *testing.T) {
	f := newFake(t)
	f.Pulls = []map[string]any{
		pull(1, "stranger/r", "other", headSHA), pull(2, "another/r", "feature", headSHA),
		pull(3, "stranger/r", "feature", headSHA), pull(4, "stranger/r", "old", baseSHA),
		pull(6, "stranger/r", "fix", headSHA), pull(7, "stranger/r", "fix", headSHA),
	}
	for i := range f.Pulls {
		f.Pulls[i]["base"] = map[string]any{"ref": "main"}
	}
	f.Pulls[5]["base"] = map[string]any{"ref": "v1"}
	for _, test := range []struct {
		what string
		c    Context
		into string
		want int
		err  error
	}{
		{"by its number", Context{PullRequest: 3, HeadSHA: headSHA}, "", 3, nil},
		{"by its number, moved on", Context{PullRequest: 4, HeadSHA: headSHA}, "", 0, ErrStale},
		{"by its branch", Context{HeadRepo: "stranger/r", HeadRef: "feature", HeadSHA: headSHA}, "main", 3, nil},
		{"by its branch alone", Context{HeadRepo: "stranger/r", HeadRef: "feature", HeadSHA: headSHA}, "", 3, nil},
		{"by its branch, moved on", Context{HeadRepo: "stranger/r", HeadRef: "old", HeadSHA: headSHA}, "", 0, ErrStale},
		{"the one into a branch", Context{HeadRepo: "stranger/r", HeadRef: "fix", HeadSHA: headSHA}, "v1", 7, nil},
		{"the other", Context{HeadRepo: "stranger/r", HeadRef: "fix", HeadSHA: headSHA}, "main", 6, nil},
		{"one of two", Context{HeadRepo: "stranger/r", HeadRef: "fix", HeadSHA: headSHA}, "", 0, ErrSeveral},
		{"into a third", Context{HeadRepo: "stranger/r", HeadRef: "fix", HeadSHA: headSHA}, "v2", 0, ErrStale},
		{"by a number that the token may not see", Context{PullRequest: 5, HeadSHA: headSHA}, "", 0, ErrReadOnly},
		{"of another repository", Context{HeadRepo: "nobody/r", HeadRef: "feature", HeadSHA: headSHA}, "", 0, ErrNoPullRequest},
		{"of a repository that is gone", Context{HeadRef: "feature", HeadSHA: headSHA}, "", 0, ErrNoPullRequest},
	} {
		n, err := f.api().PullRequest(t.Context(), &test.c, test.into)
		if !errors.Is(err, test.err) || err == nil && n != test.want {
			t.Errorf("%s: %d, %v", test.what, n, err)
		}
	}
}

// The marks are those of other pull requests, whatever branch of this one moved on.
func TestEarlierMarks(t *testing.T) {
	f := newFake(t)
	sha := func(n int) string { return fmt.Sprintf("%040d", n) }
	for n, ref := range []string{"a", "b", "c", "d", "e"} {
		f.Pulls = append(f.Pulls, pull(n+1, "o/r", ref, sha(n+1)))
	}
	for n, mark := range map[int]string{1: "one", 2: "two", 4: "", 5: "five"} {
		c := testCheck(0)
		c.SHA, c.Mark = sha(n), mark
		if _, err := f.api().PublishCheck(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		on    Context
		name  string
		limit int
		want  string
	}{
		{Context{PullRequest: 1, BaseRef: "main"}, "ebpf-bench", 5, "[{2 two} {5 five}]"},
		{Context{HeadRepo: "O/R", HeadRef: "b"}, "ebpf-bench", 5, "[{1 one} {5 five}]"},
		{Context{}, "ebpf-bench", 2, "[{1 one} {2 two}]"},
		{Context{}, "another", 2, "[]"},
	} {
		if got, err := f.api().EarlierMarks(t.Context(), &c.on, c.name, c.limit); err != nil || fmt.Sprint(got) != c.want {
			t.Errorf("%+v: %v, %v", c, got, err)
		}
	}
}

func TestTheMergeBase(t *testing.T) {
	f := newFake(t)
	f.MergeBase["main..."+headSHA] = baseSHA
	f.MergeBase["none..."+headSHA] = ""
	if sha, err := f.api().MergeBase(t.Context(), "main", headSHA); err != nil || sha != baseSHA {
		t.Error(sha, err)
	}
	for _, base := range []string{"none", "gone"} {
		if _, err := f.api().MergeBase(t.Context(), base, headSHA); !errors.Is(err, ErrNoMergeBase) {
			t.Error(err)
		}
	}
}

func TestOfSeveralRunsTheNewest(t *testing.T) {
	runs := []baseline.Meta{{ID: "c", Commit: "x"}, {ID: "b", Commit: "y"}, {ID: "a", Commit: "y"}, {ID: "d"}}
	for _, test := range []struct {
		ancestors []string
		want      string
		distance  int
	}{{[]string{"y", "x"}, "b", 0}, {[]string{"q", "x"}, "c", 1}} {
		if f, ok := Nearest(runs, test.ancestors); !ok || f.ID != test.want || f.Distance != test.distance {
			t.Errorf("%v: %+v", test.ancestors, f)
		}
	}
	if f, ok := Nearest(runs, []string{"", "q"}); ok {
		t.Errorf("found %+v", f)
	}
}

func ExampleNearest() {
	runs := []baseline.Meta{{ID: "20261121T114900Z-5f0c2a91", Commit: "aaa"}}
	found, _ := Nearest(runs, []string{"ccc", "bbb", "aaa"})
	fmt.Println(found.ID, "is", found.Distance, "commits away")
	// Output: 20261121T114900Z-5f0c2a91 is 2 commits away
}
