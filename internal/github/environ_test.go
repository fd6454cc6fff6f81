package github

import (
	"os"
	"slices"
	"testing"
)

func TestWithoutSecrets(t *testing.T) {
	got := WithoutSecrets([]string{"PATH=/bin", "GITHUB_TOKEN=a", "INPUT_TOKEN=b", "ACTIONS_RUNTIME_TOKEN=c", "ACTIONS_ID_TOKEN_REQUEST_TOKEN=d", "GITHUB_ENV=/e", "github_path=/f", "GITHUB_SHA=g"})
	if want := []string{"PATH=/bin", "GITHUB_SHA=g"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestDropSecrets(t *testing.T) {
	t.Setenv("GITHUB_TOKEN", "a")
	t.Setenv("GITHUB_SHA", "b")
	if err := DropSecrets(os.Environ(), os.Unsetenv); err != nil {
		t.Fatal(err)
	}
	if _, ok := os.LookupEnv("GITHUB_TOKEN"); ok || os.Getenv("GITHUB_SHA") != "b" {
		t.Error("the token is there, or more than it is gone")
	}
}

// The first value takes away what the checkout set: GitHub refuses two.
func TestGitHeaders(t *testing.T) {
	c := &Context{}
	if got := c.GitHeaders(""); got != nil {
		t.Errorf("without a token: %q", got)
	}
	if got := c.GitHeaders("secret"); len(got) != 2 || got[0] != "" || got[1] != "AUTHORIZATION: basic eC1hY2Nlc3MtdG9rZW46c2VjcmV0" {
		t.Errorf("%q", got)
	}
}
