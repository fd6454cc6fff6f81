package github

import (
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/internal/github/githubtest"
)

// fake is a GitHub whose API never waits.
type fake struct {
	*githubtest.Fake
	t testing.TB
}

func newFake(t testing.TB) *fake {
	f := &fake{githubtest.New(), t}
	t.Cleanup(f.Close)
	return f
}

func (f *fake) context() *Context {
	return &Context{Owner: "o", Repo: "r", APIURL: f.URL, ServerURL: "https://github.com", Event: "pull_request", HeadRepo: "o/r"}
}

func (f *fake) api() *API {
	a, err := NewAPI(f.context(), githubtest.Token)
	if err != nil {
		f.t.Fatal(err)
	}
	a.Pause = time.Millisecond
	return a
}
