package fetch

import (
	"io"
	"net/http"
)

// Progress shows downloads. Several may run concurrently, each in a goroutine of its own.
type Progress interface {
	// Start begins to show a download of size bytes.
	Start(name string, size int64) Download
}

// Download is a download in progress.
type Download interface {
	// Have reports how many bytes have arrived: fewer than before if the request was
	// retried.
	Have(n int64)
	// End is called once, even if the download fails.
	End()
}

// Start calls p.Start, unless p is nil.
func Start(p Progress, name string, size int64) Download {
	if p == nil {
		return unseen{}
	}
	return p.Start(name, size)
}

type unseen struct{}

func (unseen) Have(int64) {}
func (unseen) End()       {}

// Meter is a transport that counts the bytes it receives, once it has a download to report
// them to.
type Meter struct {
	http.RoundTripper
	// Shown is the download to report to, if any.
	Shown Download
	have  int64
}

// RoundTrip makes a request, and counts the body of the response.
func (m *Meter) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := m.RoundTripper.RoundTrip(request)
	if err != nil || m.Shown == nil {
		return response, err
	}
	body := response.Body
	response.Body = struct {
		io.Reader
		io.Closer
	}{readFunc(func(p []byte) (int, error) {
		n, err := body.Read(p)
		m.have += int64(n)
		m.Shown.Have(m.have)
		return n, err
	}), body}
	return response, nil
}
