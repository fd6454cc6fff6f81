// Package fetch downloads files over HTTP. It retries when a server fails for a moment,
// and reports how much has arrived.
package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/org/ebpf-bench-action/internal/kernel/untrusted"
)

const (
	// stallTime is how long a server may send nothing.
	stallTime = 30 * time.Second
	// dialTime is how long connecting may take. Without a network, that is the whole wait.
	dialTime = 10 * time.Second
	// attempts is how often each request is tried, with a pause that doubles in between.
	attempts   = 3
	firstPause = time.Second
)

// client talks to mirrors through the environment's proxies.
var client = newClient()

func newClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = (&net.Dialer{Timeout: dialTime}).DialContext
	return &http.Client{Transport: transport}
}

// statusError is an answer other than 200 OK.
type statusError int

func (e statusError) Error() string { return fmt.Sprintf("%d %s", int(e), http.StatusText(int(e))) }

// getError says which URL could not be downloaded.
type getError struct {
	url string
	err error
}

func (e *getError) Error() string { return fmt.Sprintf("fetch %s: %s", e.url, e.err) }
func (e *getError) Unwrap() error { return e.err }

// IsDown reports whether an error is caused by the server rather than by a file that it
// serves.
func IsDown(err error) bool {
	var e *getError
	return errors.As(err, &e) && mayPass(e.err)
}

// IsMissing reports whether a server says that it has no such file.
func IsMissing(err error) bool { return errors.Is(err, statusError(http.StatusNotFound)) }

// Get returns the body at a URL, and calls have, unless it is nil, with the number of
// bytes that have arrived. It retries after errors that may be temporary.
func Get(ctx context.Context, url string, limit int64, have func(n int64)) (body []byte, err error) {
	pause := firstPause
	for n := range attempts {
		if n > 0 {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(pause):
			}
			pause *= 2
		}
		body, err = fetchOnce(ctx, url, limit, have)
		if err == nil || ctx.Err() != nil || !mayPass(err) {
			break
		}
	}
	if err != nil {
		return nil, &getError{url, err}
	}
	return body, nil
}

// mayPass reports whether the next attempt may succeed.
func mayPass(err error) bool {
	var status statusError
	if errors.As(err, &status) {
		return status >= 500
	}
	var tooLarge untrusted.TooLargeError
	return !errors.As(err, &tooLarge)
}

func fetchOnce(ctx context.Context, url string, limit int64, have func(n int64)) ([]byte, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stall := time.AfterFunc(stallTime, func() { cancel(errors.New("server stalled")) })
	defer stall.Stop()

	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, causeOr(ctx, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, statusError(response.StatusCode)
	}
	arrived := int64(0)
	body, err := untrusted.ReadAll(readFunc(func(p []byte) (int, error) {
		stall.Reset(stallTime)
		n, err := response.Body.Read(p)
		arrived += int64(n)
		if have != nil {
			have(arrived)
		}
		return n, err
	}), limit)
	if err != nil {
		return nil, causeOr(ctx, err)
	}
	return body, nil
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// causeOr returns why ctx ended, or err if it did not.
func causeOr(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// Verified is Get for a file with a known checksum.
func Verified(ctx context.Context, url string, want untrusted.Checksum, have func(n int64)) ([]byte, error) {
	if want.Size > untrusted.MaxKept {
		return nil, &getError{url, untrusted.TooLargeError(untrusted.MaxKept)}
	}
	body, err := Get(ctx, url, want.Size, have)
	if err != nil {
		return nil, err
	}
	if err := want.Check(body); err != nil {
		return nil, fmt.Errorf("verify %s: %w", url, err)
	}
	return body, nil
}
