package github

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// transport sends requests with the token, only to its own server. It waits if GitHub asks
// for that, and retries requests that failed on the way.
type transport struct {
	next  http.RoundTripper
	base  *url.URL
	token string
	// pause is about the first wait before a retry. It doubles.
	pause *time.Duration
	// patience is the longest wait that GitHub may ask for.
	patience time.Duration
	now      func() time.Time
}

const (
	maxTries = 5
	// answerTimeout is how long GitHub may take to begin an answer.
	answerTimeout = 30 * time.Second
	// maxAnswer is the largest plausible answer, in bytes.
	maxAnswer = 64 << 20
)

func newTransport(base *url.URL, token string, pause *time.Duration) *transport {
	next := http.DefaultTransport
	if standard, ok := next.(*http.Transport); ok {
		own := standard.Clone()
		own.ResponseHeaderTimeout = answerTimeout
		next = own
	}
	return &transport{
		next: next, base: base, token: token,
		pause: pause, patience: 2 * time.Minute, now: time.Now,
	}
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	for try := 1; ; try++ {
		attempt, err := t.attempt(req)
		if err != nil {
			return nil, err
		}
		resp, err := t.next.RoundTrip(attempt)
		wait, again := t.wait(req, resp, err, try)
		if !again || try == maxTries {
			if resp != nil {
				resp.Body = &cappedBody{ReadCloser: resp.Body, left: maxAnswer}
			}
			return resp, err
		}
		if resp != nil {
			_, _ = io.CopyN(io.Discard, resp.Body, 64<<10)
			resp.Body.Close()
		}
		if err := sleep(req.Context(), wait); err != nil {
			return nil, err
		}
	}
}

// attempt returns a copy of a request that can be sent.
func (t *transport) attempt(req *http.Request) (*http.Request, error) {
	c := req.Clone(req.Context())
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return nil, err
		}
		c.Body = body
	}
	// The token does not follow a redirect to another server.
	if c.URL.Scheme == t.base.Scheme && c.URL.Host == t.base.Host {
		c.Header.Set("Authorization", "Bearer "+t.token)
	}
	return c, nil
}

// wait reports whether to retry, and after how long.
func (t *transport) wait(req *http.Request, resp *http.Response, err error, try int) (time.Duration, bool) {
	backoff := jitter(*t.pause << (try - 1))
	switch {
	case req.Context().Err() != nil, req.Body != nil && req.GetBody == nil:
		return 0, false
	case err != nil:
		return backoff, repeatable(req)
	case resp.StatusCode == http.StatusForbidden, resp.StatusCode == http.StatusTooManyRequests:
		asked, ok := t.asked(resp)
		return max(asked, backoff), ok && asked <= t.patience
	case resp.StatusCode >= 500:
		return backoff, repeatable(req)
	}
	return 0, false
}

// repeatable reports whether a request does no harm if it is made twice. A second comment
// would.
func repeatable(req *http.Request) bool { return req.Method != http.MethodPost }

// asked returns how long GitHub asks to wait, and whether it does. A refusal for another
// reason does not.
func (t *transport) asked(resp *http.Response) (time.Duration, bool) {
	if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && s >= 0 {
		return time.Duration(min(s, 1<<20)) * time.Second, true
	}
	if resp.Header.Get("X-RateLimit-Remaining") == "0" {
		if at, err := strconv.ParseInt(resp.Header.Get("X-RateLimit-Reset"), 10, 64); err == nil {
			return max(time.Unix(at, 0).Sub(t.now()), 0), true
		}
	}
	return 0, resp.StatusCode == http.StatusTooManyRequests
}

// jitter varies a wait, so that jobs that collided once do not collide again.
func jitter(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return d/2 + rand.N(d)
}

// Sleep waits for about d, or until the context ends, whose error it returns then.
func Sleep(ctx context.Context, d time.Duration) error { return sleep(ctx, jitter(d)) }

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// cappedBody fails if an answer is longer than plausible.
type cappedBody struct {
	io.ReadCloser
	left int64
}

var errAnswer = errors.New("the answer is longer than plausible")

func (b *cappedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, fmt.Errorf("read from GitHub: %w", errAnswer)
	}
	return n, err
}
