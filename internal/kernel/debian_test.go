package kernel

import (
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/org/ebpf-bench-action/internal/kernel/debian"
	"github.com/org/ebpf-bench-action/internal/kernel/debiantest"
	"github.com/org/ebpf-bench-action/internal/kernel/imagetest"
)

// archiveOf returns Debian's archive as a machine's apt is configured for it.
func archiveOf(root fs.FS) debian.Archive { return debian.Archive{Arch: "amd64", Root: root} }

func TestAKernelOfADebianSuite(t *testing.T) {
	k, err := Source{apt: archiveOf(debiantest.NewMirror().Root(t))}.Load(t.Context(), "trixie-backports")
	wantTestKernel(t, k, err)
	if want := "Debian trixie-backports, linux-image-" + imagetest.Release + " 6.12.107-1"; err == nil && k.Origin != want {
		t.Errorf("origin is %q", k.Origin)
	}
}

func TestAVersionThatNoSuiteHas(t *testing.T) {
	r := debiantest.NewMirror()
	r.AddSuite("testing", debiantest.Expired)
	r.AddSuite("unstable", "")
	s := Source{apt: archiveOf(r.Root(t))}
	c := newCache(t)
	c.source = s.Load
	if err := c.Check("9.98"); err != nil {
		t.Errorf("before a suite was asked: %v", err)
	}
	_, err := c.Resolve(t.Context(), "9.98")
	imagetest.WantError(t, err, "no Debian suite has Linux 9.98: trixie-backports has 6.12; ",
		"stable-backports cannot be asked (", "404 Not Found", "; testing cannot be asked (", "expired on 2025-01-21", "; unstable has 6.12")
	imagetest.WantHint(t, err, "OCI image")
	if !errors.Is(err, ErrUnknown) {
		t.Errorf("%v is not ErrUnknown", err)
	}

	// A version older than all suites that move on is known without a request.
	before := r.Asked.Load()
	_, err = s.Load(t.Context(), "4.19")
	imagetest.WantError(t, err, "no Debian suite has Linux 4.19, only 5.10, 6.1, 6.12 and later ones")
	if r.Asked.Load() != before || !errors.Is(err, ErrUnknown) {
		t.Errorf("asked %d times, error %v", r.Asked.Load()-before, err)
	}
}

// A released suite will never get a version that it lacks, either.
func TestAVersionThatItsSuiteLacks(t *testing.T) {
	r := debiantest.NewMirror()
	r.AddSuite("trixie", "")
	_, err := Source{apt: archiveOf(r.Root(t))}.Load(t.Context(), "6.12.42")
	imagetest.WantError(t, err, "get kernel of Debian trixie: no kernel 6.12.42, only 6.12.107+deb13")
	imagetest.WantHint(t, err, "6.12 is the newest of its series; add 6.12.42 from .deb files")
	if !errors.Is(err, ErrUnknown) {
		t.Errorf("%v is not ErrUnknown", err)
	}
}

func TestAMirrorThatIsDownIsAskedForOneSuite(t *testing.T) {
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusBadGateway)
	}))
	defer server.Close()
	root := debiantest.RootOf(server.URL, debiantest.NewKey("archive"))
	_, err := Source{apt: archiveOf(root)}.Load(t.Context(), "9.98")
	imagetest.WantError(t, err, "get kernel of Debian trixie-backports: fetch "+server.URL, "502 Bad Gateway")
	if errors.Is(err, ErrUnknown) || asked.Load() != 3 {
		t.Errorf("asked %d times, error %v", asked.Load(), err)
	}
}

func TestALookUpWithoutAMirror(t *testing.T) {
	_, err := Source{apt: debian.Archive{Root: fstest.MapFS{}}}.Load(t.Context(), "9.98")
	imagetest.WantError(t, err, "get kernel of Debian trixie-backports: apt is not configured for a mirror of Debian")
	imagetest.WantHint(t, err, "add kernels from .deb files")
	if errors.Is(err, ErrUnknown) {
		t.Errorf("%v is ErrUnknown", err)
	}
}
