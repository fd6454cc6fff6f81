package fetch

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/org/ebpf-bench-action/internal/kernel/imagetest"
)

func TestAMirrorThatFailsForAMoment(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(w, "here")
	}))
	defer server.Close()
	got, err := Get(t.Context(), server.URL, 4, nil)
	if err != nil || string(got) != "here" || asked != 2 {
		t.Errorf("got %q after asking %d times, error %v", got, asked, err)
	}
	_, err = Get(t.Context(), server.URL, 3, nil)
	imagetest.WantError(t, err, "fetch "+server.URL, "larger than")
}

func TestADownloadThatBeginsAgain(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "8")
		if asked++; asked == 1 {
			fmt.Fprint(w, "half")
			return // the client sees the connection end
		}
		fmt.Fprint(w, "complete")
	}))
	defer server.Close()
	arrived, back := int64(0), 0
	body, err := Get(t.Context(), server.URL, 8, func(n int64) {
		if n < arrived {
			back++
		}
		arrived = n
	})
	if err != nil || string(body) != "complete" || arrived != 8 || back > 1 {
		t.Errorf("got %q, error %v, %d bytes arrived, and %d times fewer", body, err, arrived, back)
	}
}
