package kernel

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/org/ebpf-bench-action/internal/kernel/imagetest"
)

const expired = "Valid-Until: Tue, 21 Jan 2025 00:00:00 UTC\n"

// addSuite makes the mirror have another suite, of the same kernels.
func (r *testRepository) addSuite(name, more string) {
	index := r.files["dists/trixie-backports/"+testIndex]
	r.files["dists/"+name+"/"+testIndex] = index
	r.files["dists/"+name+"/InRelease"] = signed(fmt.Sprintf(
		"Origin: Debian\nSuite: %s\n%sSHA256:\n %s %d %s\n", name, more, imagetest.Sum(index), len(index), testIndex), r.key)
}

func TestAVersionIsLookedUpInTheSuitesThatMoveOn(t *testing.T) {
	for suite, edit := range map[string]func(r *testRepository){
		"trixie-backports": func(r *testRepository) { r.addSuite("testing", "") },
		"testing":          func(r *testRepository) { r.release = expired },
		"unstable": func(r *testRepository) {
			r.release = expired
			r.addSuite("testing", expired)
		},
	} {
		t.Run(suite, func(t *testing.T) {
			r := newRepository()
			edit(r)
			r.addSuite("unstable", "")
			if suite == "testing" {
				r.addSuite("testing", "")
			}
			k, err := Source{apt: r.debian(t)}.search(t.Context(), "6.12")
			wantTestKernel(t, k, err)
			if want := "Debian " + suite + ", linux-image-" + imagetest.Release + " 6.12.107-1"; k.Origin != want {
				t.Errorf("origin is %q", k.Origin)
			}
		})
	}
}

func TestAVersionThatNoSuiteHas(t *testing.T) {
	r := newRepository()
	r.addSuite("testing", expired)
	r.addSuite("unstable", "")
	s := Source{apt: r.debian(t)}
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

	// What is older than all that move on is known without asking.
	before := r.asked.Load()
	_, err = s.Load(t.Context(), "4.19")
	imagetest.WantError(t, err, "no Debian suite has Linux 4.19, only 5.10, 6.1, 6.12 and later ones")
	if r.asked.Load() != before || !errors.Is(err, ErrUnknown) {
		t.Errorf("asked %d times, error %v", r.asked.Load()-before, err)
	}
}

// Of a series that it has, a suite that moves on tells which kernels.
func TestAVersionThatTheSuitesOfItsSeriesLack(t *testing.T) {
	r := newRepository()
	r.addSuite("testing", "")
	_, err := Source{apt: r.debian(t)}.search(t.Context(), "6.12.42")
	imagetest.WantError(t, err, "no Debian suite has Linux 6.12.42: trixie-backports has 6.12.107+deb13; ", "; testing has 6.12.107+deb13")
	imagetest.WantHint(t, err, "OCI image")
}

// A suite that was released lacks what it does not have for good, too.
func TestAVersionThatItsSuiteLacks(t *testing.T) {
	r := newRepository()
	r.addSuite("trixie", "")
	_, err := Source{apt: r.debian(t)}.Load(t.Context(), "6.12.42")
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
	d := newRepository().debian(t)
	d.Root.(fstest.MapFS)["etc/apt/sources.list"].Data = []byte("deb [signed-by=/keys.gpg] " + server.URL + "/debian trixie main")

	_, err := Source{apt: d}.Load(t.Context(), "9.98")
	imagetest.WantError(t, err, "get kernel of Debian trixie-backports: fetch "+server.URL, "502 Bad Gateway")
	if errors.Is(err, ErrUnknown) || asked.Load() != attempts {
		t.Errorf("asked %d times, error %v", asked.Load(), err)
	}
}

func TestALookUpWithoutAMirror(t *testing.T) {
	_, err := Source{apt: Debian{Root: fstest.MapFS{}}}.Load(t.Context(), "9.98")
	imagetest.WantError(t, err, "get kernel of Debian trixie-backports: apt is not configured for a mirror of Debian")
	imagetest.WantHint(t, err, "add kernels from .deb files")
	if errors.Is(err, ErrUnknown) {
		t.Errorf("%v is ErrUnknown", err)
	}
}
