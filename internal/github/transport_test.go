package github

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestWhatFailedOnTheWayIsTriedAgain(t *testing.T) {
	// The server may still be at a request whose connection broke.
	saw := func(f *fake) (requests, comments int) {
		f.Lock()
		defer f.Unlock()
		requests, comments = len(f.Requests), len(f.Comments)
		f.Requests = nil
		return requests, comments
	}
	f := newFake(t)
	f.Broken = 2
	_, err := f.api().DefaultBranch(t.Context())
	if requests, _ := saw(f); err == nil || requests != 3 {
		t.Errorf("%v after %d requests", err, requests)
	}
	// Retrying could create a second comment.
	f = newFake(t)
	a := f.api()
	say(t, a, Comment{Key: "a"}, "created")
	saw(f)
	f.Broken = 1
	_, err = a.createComment(t.Context(), 7, Comment{Key: "b"})
	if requests, _ := saw(f); err == nil || requests != 1 {
		t.Errorf("%v after %d requests", err, requests)
	}
	f.Lost = 1
	_, err = a.createComment(t.Context(), 7, Comment{Key: "c"})
	if requests, comments := saw(f); err == nil || requests != 1 || comments != 2 {
		t.Errorf("%v after %d requests, with %d comments", err, requests, comments)
	}
}

func TestGitHubMayAskToWait(t *testing.T) {
	f := newFake(t)
	f.Limited = 3
	say(t, f.api(), Comment{Key: "a", Body: "b"}, "created")
	// A limit that does not end is not a refusal.
	f = newFake(t)
	f.Limited = 1000
	_, err := f.api().Comment(t.Context(), 7, Comment{Key: "a", Body: "b"})
	if err == nil || errors.Is(err, ErrReadOnly) {
		t.Error(err)
	}
}

func TestHowLongGitHubAsksToWait(t *testing.T) {
	now := time.Unix(1000, 0)
	pause := time.Millisecond
	tr := &transport{patience: time.Minute, pause: &pause, now: func() time.Time { return now }}
	get, _ := http.NewRequest(http.MethodGet, "http://x/", nil)
	for _, test := range []struct {
		status  int
		headers [][2]string
		asked   time.Duration
		again   bool
	}{
		{429, nil, 0, true},
		{403, nil, 0, false},
		{403, [][2]string{{"Retry-After", "7"}}, 7 * time.Second, true},
		{403, [][2]string{{"Retry-After", "61"}}, 61 * time.Second, false},
		{403, [][2]string{{"Retry-After", "-1"}}, 0, false},
		{403, [][2]string{{"X-Ratelimit-Remaining", "0"}, {"X-Ratelimit-Reset", "1030"}}, 30 * time.Second, true},
		{403, [][2]string{{"X-Ratelimit-Remaining", "0"}, {"X-Ratelimit-Reset", "9999"}}, 8999 * time.Second, false},
		{403, [][2]string{{"X-Ratelimit-Remaining", "1"}, {"X-Ratelimit-Reset", "1030"}}, 0, false},
		{404, nil, 0, false},
		{200, nil, 0, false},
	} {
		resp := &http.Response{StatusCode: test.status, Header: http.Header{}}
		for _, h := range test.headers {
			resp.Header.Set(h[0], h[1])
		}
		wait, again := tr.wait(get, resp, nil, 1)
		if again != test.again || again && wait < test.asked {
			t.Errorf("%+v: %v, %v", test, wait, again)
		}
	}
}

func TestTheTokenStaysWithItsServer(t *testing.T) {
	leaked := make(chan string, 1)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { leaked <- r.Header.Get("Authorization") }))
	defer elsewhere.Close()
	here := httptest.NewServer(http.RedirectHandler(elsewhere.URL+"/x", http.StatusFound))
	defer here.Close()
	a, err := NewAPI(&Context{Owner: "o", Repo: "r", APIURL: here.URL}, "secret")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = a.DefaultBranch(t.Context())
	if got := <-leaked; got != "" {
		t.Errorf("another server got %q", got)
	}
}

func TestNoErrorHasTheToken(t *testing.T) {
	a, err := NewAPI(&Context{Owner: "o", Repo: "r", APIURL: "http://127.0.0.1:1"}, "secret")
	if err != nil {
		t.Fatal(err)
	}
	a.Pause = 0
	if _, err := a.DefaultBranch(t.Context()); err == nil || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
}

func TestWaitingCanBeEnded(t *testing.T) {
	f := newFake(t)
	f.Limited = 1000
	a := f.api()
	a.Pause = time.Hour
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := a.DefaultBranch(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestAnAnswerWithoutEndIsCut(t *testing.T) {
	b := &cappedBody{ReadCloser: io.NopCloser(strings.NewReader(strings.Repeat("x", 100))), left: 99}
	if _, err := io.ReadAll(b); !errors.Is(err, errAnswer) {
		t.Error(err)
	}
}
