package git

import (
	"errors"
	"testing"
)

// The token is not an argument of git, and not in its messages.
func TestGitErrors(t *testing.T) {
	err := failure("fetch", "remote: no\nfatal: unable to access 'https://x-access-token:secret@github.com/o/r/': refused\n", errors.New("exit status 128"))
	if got, want := err.Error(), "git fetch: unable to access 'https://github.com/o/r/': refused"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
