package github

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	gh "github.com/google/go-github/v53/github"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape"
)

var (
	// ErrNotOnGitHub says that this is not a run of GitHub Actions, so reports stay local.
	ErrNotOnGitHub = errors.New("not on GitHub Actions")
	// ErrNoToken says that there is no token to ask GitHub with.
	ErrNoToken = errors.New("no token for GitHub")
	// ErrReadOnly says that the token lacks the permission: that of a pull request from a
	// fork may only read.
	ErrReadOnly = errors.New("the token may not do that")
	// ErrStale says that a pull request has another head than the one that was measured.
	ErrStale = errors.New("the pull request has moved on")
	// ErrNoPullRequest says that no pull request belongs to the run.
	ErrNoPullRequest = errors.New("no pull request belongs to this run")
	// ErrSeveral says that several pull requests may belong to the run.
	ErrSeveral = errors.New("several pull requests have this head")
	// ErrTarget says that pull_request_target would run the code of a stranger with a
	// token that may write.
	ErrTarget = errors.New("pull_request_target must not run the code of a pull request")
)

// ReadOnlyError is an ErrReadOnly that says what was refused.
type ReadOnlyError struct {
	// What is the action that was refused, such as "comment".
	What string
	// Status is GitHub's answer, Message its words.
	Status  int
	Message string
}

func (e *ReadOnlyError) Error() string {
	return fmt.Sprintf("%s: %v: GitHub answers %d %s", e.What, ErrReadOnly, e.Status, escape.Printable(escape.Clip(e.Message, 200)))
}

// Unwrap returns ErrReadOnly.
func (e *ReadOnlyError) Unwrap() error { return ErrReadOnly }

// ErrorOf adds to err what failed. A refused write becomes a ReadOnlyError: GitHub also
// answers 404 to hide what it refuses.
func ErrorOf(what string, err error) error {
	if err == nil {
		return nil
	}
	if status := Status(err); IsRefusal(status) {
		return ReadOnly(what, status, message(err))
	}
	return fmt.Errorf("%s: %w", what, err)
}

// IsRefusal reports whether a status is GitHub's answer to a token that lacks a permission.
func IsRefusal(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden || status == http.StatusNotFound
}

// ReadOnly returns a ReadOnlyError with a hint.
func ReadOnly(what string, status int, message string) error {
	return bench.WithHint(
		&ReadOnlyError{What: what, Status: status, Message: message},
		"the job needs a permission for that (permissions: in the workflow); a pull request from a fork gets none: report it by a second workflow, on workflow_run")
}

// Status returns the HTTP status of GitHub's answer, 0 if there was none or it only asked
// to wait.
func Status(err error) int {
	var answer *gh.ErrorResponse
	if errors.As(err, &answer) && answer.Response != nil && !limited(answer) {
		return answer.Response.StatusCode
	}
	return 0
}

// limited reports whether GitHub only asks to wait. It may do so with 403, and in words
// and headers that go-github does not all know.
func limited(answer *gh.ErrorResponse) bool {
	h := answer.Response.Header
	return answer.Response.StatusCode == http.StatusTooManyRequests || h.Get("Retry-After") != "" ||
		h.Get("X-RateLimit-Remaining") == "0" || strings.Contains(strings.ToLower(answer.Message), "rate limit")
}

func message(err error) string {
	var answer *gh.ErrorResponse
	if errors.As(err, &answer) {
		return answer.Message
	}
	return ""
}
