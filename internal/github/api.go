package github

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	gh "github.com/google/go-github/v53/github"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// API asks and tells GitHub of one repository. All its methods may be called
// by many goroutines at once.
type API struct {
	client      *gh.Client
	owner, repo string
	// graphQL is the URL of the same server's other API.
	graphQL string
	// pause is how long the first wait before another try takes, about.
	pause time.Duration
}

// requestTimeout is how long one request may take, with what it waits because
// GitHub says so.
const requestTimeout = 10 * time.Minute

// NewAPI is the API of a run's repository, with the token. Without one it is
// ErrNoToken.
func NewAPI(c *Context, token string) (*API, error) {
	if token == "" {
		return nil, bench.WithHint(ErrNoToken, "Give it as the action's input token.")
	}
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, fmt.Errorf("%w: what was given has characters that none has", ErrNoToken)
	}
	base, err := url.Parse(c.APIURL + "/")
	if err != nil {
		return nil, err
	}
	t := newTransport(base, token)
	client := gh.NewClient(&http.Client{Transport: t, Timeout: requestTimeout})
	client.BaseURL = base
	client.UserAgent = "ebpf-bench"
	return &API{
		client: client, owner: c.Owner, repo: c.Repo,
		graphQL: graphQLURL(base), pause: t.pause,
	}, nil
}

// graphQLURL is derived, so that the token stays with one server.
func graphQLURL(base *url.URL) string {
	u := *base
	if path, ok := strings.CutSuffix(u.Path, "/api/v3/"); ok {
		u.Path = path + "/api/graphql"
	} else {
		u.Path += "graphql"
	}
	return u.String()
}
