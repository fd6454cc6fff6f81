package github

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func (f *fake) body(i int) string { return f.Comments[i]["body"].(string) }

// say posts a comment and checks the resulting action.
func say(t *testing.T, a *API, c Comment, want string) {
	t.Helper()
	got, err := a.Comment(t.Context(), 7, c)
	if err != nil || got.Action != want {
		t.Errorf("%q: %+v, %v, want %s", c.Body, got, err, want)
	}
}

func TestOneCommentIsUpdatedInPlace(t *testing.T) {
	for what, set := range map[string]func(*fake){
		"a job's token":    func(*fake) {},
		"a person's token": func(f *fake) { f.Login = "Octocat" },
		"an app's token":   func(f *fake) { f.Viewer = "our-app[bot]" },
	} {
		t.Run(what, func(t *testing.T) {
			f := newFake(t)
			set(f)
			a := f.api()
			say(t, a, Comment{Key: "net", Body: "slower"}, "created")
			say(t, a, Comment{Key: "net", Body: "slower still"}, "updated")
			say(t, a, Comment{Key: "net", Body: "slower still"}, "unchanged")
			if len(f.Comments) != 1 || !strings.HasSuffix(f.body(0), "\nslower still") {
				t.Errorf("comments %v", f.Comments)
			}
		})
	}
}

func TestTwoKeysDoNotDisturbEachOther(t *testing.T) {
	f := newFake(t)
	a := f.api()
	for _, word := range []string{"one", "two"} {
		for _, key := range []string{"net", "net/ipv6", "-->\n@octocat"} {
			_, err := a.Comment(t.Context(), 7, Comment{Key: key, Body: word + " of " + key})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(f.Comments) != 3 {
		t.Errorf("%d comments", len(f.Comments))
	}
	for i, key := range []string{"net", "net/ipv6", "-->\n@octocat"} {
		if !strings.HasSuffix(f.body(i), " -->\ntwo of "+key) || strings.Contains(firstLine(f.body(i)), "octocat") {
			t.Errorf("comment %q", f.body(i))
		}
	}
}

func TestNoStrangersCommentIsTouched(t *testing.T) {
	f := newFake(t)
	a := f.api()
	c := Comment{Key: "net", Body: "slower"}
	f.AddComment("stranger", c.text())
	f.AddComment(actionsBot, "see "+c.text())
	say(t, a, c, "created")
	say(t, a, Comment{Key: "net", Body: "faster"}, "updated")
	if len(f.Comments) != 3 || f.body(0) != c.text() || !strings.HasPrefix(f.body(1), "see ") || !strings.Contains(f.body(2), "faster") {
		t.Errorf("comments %v", f.Comments)
	}
}

func TestTheCommentIsFoundOnEveryPage(t *testing.T) {
	f := newFake(t)
	a := f.api()
	for i := range 250 {
		if i == 120 {
			say(t, a, Comment{Key: "net", Body: "slower"}, "created")
		}
		f.AddComment("someone", fmt.Sprint("comment ", i))
	}
	say(t, a, Comment{Key: "net", Body: "faster"}, "updated")
	if len(f.Comments) != 251 {
		t.Errorf("%d comments", len(f.Comments))
	}
}

func TestOfTwinsTheOlderStays(t *testing.T) {
	f := newFake(t)
	c := Comment{Key: "net", Body: "slower"}
	for range 3 {
		f.AddComment(actionsBot, c.text())
	}
	say(t, f.api(), Comment{Key: "net", Body: "faster"}, "updated")
	if len(f.Comments) != 1 || f.Comments[0]["id"] != 1000 {
		t.Errorf("comments %v", f.Comments)
	}
}

func TestOnlyOnChange(t *testing.T) {
	f := newFake(t)
	a := f.api()
	c := Comment{Key: "net", OnlyOnChange: true}
	c.Body, c.State = "all well", "pass"
	say(t, a, c, "none")
	c.Body, c.State, c.Notable = "5% slower", "regressed", true
	say(t, a, c, "created")
	c.Body = "6% slower"
	say(t, a, c, "unchanged")
	c.Body, c.State, c.Notable = "all well", "pass", false
	say(t, a, c, "updated")
	if len(f.Comments) != 1 || !strings.HasSuffix(f.body(0), "all well") {
		t.Errorf("comments %v", f.Comments)
	}
}

func TestALongCommentIsCut(t *testing.T) {
	f := newFake(t)
	say(t, f.api(), Comment{Key: "net", Body: longReport(10_000), More: more}, "created")
	if !strings.HasSuffix(f.body(0), more+"\n") {
		t.Error("no link to the full report")
	}
}

func TestAForksTokenIsNoCrash(t *testing.T) {
	for _, status := range []int{403, 404} {
		f := newFake(t)
		f.Denied["issues"] = status
		_, err := f.api().Comment(t.Context(), 7, Comment{Key: "net", Body: "slower"})
		var refused *ReadOnlyError
		if !errors.Is(err, ErrReadOnly) || !errors.As(err, &refused) || refused.Status != status || strings.Contains(err.Error(), "\n") {
			t.Errorf("%d: %v", status, err)
		}
	}
	if _, err := newFake(t).api().Comment(t.Context(), 0, Comment{}); !errors.Is(err, ErrNoPullRequest) {
		t.Error(err)
	}
}

func TestARefusedTokenIsToldOf(t *testing.T) {
	f := newFake(t)
	a, err := NewAPI(f.context(), "another")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Comment(t.Context(), 7, Comment{}); !errors.Is(err, ErrReadOnly) || !strings.Contains(err.Error(), "401") {
		t.Error(err)
	}
}
