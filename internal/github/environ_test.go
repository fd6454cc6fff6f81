package github

import (
	"slices"
	"testing"
)

func TestWithoutSecrets(t *testing.T) {
	got := WithoutSecrets([]string{"PATH=/bin", "GITHUB_TOKEN=a", "INPUT_TOKEN=b", "ACTIONS_RUNTIME_TOKEN=c", "ACTIONS_ID_TOKEN_REQUEST_TOKEN=d", "GITHUB_ENV=/e", "github_path=/f", "GITHUB_SHA=g"})
	if want := []string{"PATH=/bin", "GITHUB_SHA=g"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A process without secrets is not restarted, or it would restart without end.
func TestDropSecrets(t *testing.T) {
	var got [][]string
	again := func(environ []string) error { got = append(got, environ); return nil }
	for _, environ := range [][]string{{"GITHUB_TOKEN=a", "GITHUB_SHA=b"}, {"GITHUB_SHA=b"}} {
		if err := DropSecrets(environ, again); err != nil {
			t.Fatal(err)
		}
	}
	if len(got) != 1 || !slices.Equal(got[0], []string{"GITHUB_SHA=b"}) {
		t.Errorf("started again with %q", got)
	}
}

// The first value removes the one that the checkout set: GitHub refuses two.
func TestGitHeaders(t *testing.T) {
	if got := GitHeaders(""); got != nil {
		t.Errorf("without a token: %q", got)
	}
	if got := GitHeaders("secret"); len(got) != 2 || got[0] != "" || got[1] != "AUTHORIZATION: basic eC1hY2Nlc3MtdG9rZW46c2VjcmV0" {
		t.Errorf("%q", got)
	}
}

// A program that is started without an environment learns which run this is, and no
// secret.
func TestHanded(t *testing.T) {
	got := Handed([]string{"PATH=/bin", "GITHUB_TOKEN=a", "GITHUB_SHA=b", "GITHUB_SHARE=c", "GITHUB_ENV=/d", "GITHUB_EVENT_NAME=push", "GITHUB_ACTIONS"})
	if want := []string{"GITHUB_SHA=b", "GITHUB_EVENT_NAME=push", "GITHUB_ACTIONS"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
