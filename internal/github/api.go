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

// API is a client of GitHub for one repository. It is safe for concurrent use.
type API struct {
	// Client serves requests that have no method here. Owner and Repo name the repository.
	Client      *gh.Client
	Owner, Repo string
	// Pause is about how long the first wait before a retry takes.
	Pause time.Duration
	// graphQL is the URL of the same server's GraphQL API.
	graphQL string
}

// requestTimeout is how long one request may take, including the time that GitHub asks it
// to wait.
const requestTimeout = 10 * time.Minute

// NewAPI returns the API for a run's repository, with the token. Without a token the error
// is ErrNoToken.
func NewAPI(c *Context, token string) (*API, error) {
	if token == "" {
		return nil, bench.WithHint(ErrNoToken, "give it as the action's input token")
	}
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, fmt.Errorf("%w: the given token has characters that no token has", ErrNoToken)
	}
	base, err := url.Parse(c.APIURL + "/")
	if err != nil {
		return nil, err
	}
	a := &API{Owner: c.Owner, Repo: c.Repo, Pause: time.Second, graphQL: graphQLURL(base)}
	a.Client = gh.NewClient(&http.Client{Transport: newTransport(base, token, &a.Pause), Timeout: requestTimeout})
	a.Client.BaseURL = base
	a.Client.UserAgent = "ebpf-bench"
	return a, nil
}

// graphQLURL derives the URL from base, so that the token stays with one server.
func graphQLURL(base *url.URL) string {
	u := *base
	if path, ok := strings.CutSuffix(u.Path, "/api/v3/"); ok {
		u.Path = path + "/api/graphql"
	} else {
		u.Path += "graphql"
	}
	return u.String()
}
