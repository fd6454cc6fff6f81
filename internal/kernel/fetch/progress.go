package fetch

import (
	"io"
	"net/http"
)

// Progress shows what is downloaded. Several downloads may be under way at
// once, each from a goroutine of its own.
type Progress interface {
	// Start begins to show a download of that many bytes.
	Start(name string, size int64) Download
}

// Download is one that is under way.
type Download interface {
	// Have tells how many bytes have arrived: fewer than before where the
	// server had to be asked again.
	Have(n int64)
	// End is called once, also of a download that fails.
	End()
}

// Start is p.Start for a p that may be nil.
func Start(p Progress, name string, size int64) Download {
	if p == nil {
		return unseen{}
	}
	return p.Start(name, size)
}

type unseen struct{}

func (unseen) Have(int64) {}
func (unseen) End()       {}

// Meter is a transport that counts what comes through it, once it has a
// download to count for.
type Meter struct {
	http.RoundTripper
	// Shown is what to count for, if anything.
	Shown Download
	have  int64
}

// RoundTrip makes a request, and counts the body of its answer.
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
