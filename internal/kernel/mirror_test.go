package kernel

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/internal/kernel/debian"
	"github.com/org/ebpf-bench-action/internal/kernel/imagetest"
	"github.com/org/ebpf-bench-action/internal/kernel/uname"
	"github.com/org/ebpf-bench-action/internal/testenv"
)

// needMirror skips a test if apt is configured for no mirror of Debian, or for one that
// does not answer. In CI it fails, unless CI has none.
func needMirror(t *testing.T) {
	t.Helper()
	testenv.Long(t, "downloads 130 MB")
	_, err := (debian.Archive{}).Find(t.Context(), "trixie-backports")
	if errors.Is(err, debian.ErrNoMirror) {
		testenv.MissingKernel(t, fmt.Sprintf("mirror: %v", err))
	}
	var network *url.Error
	if errors.As(err, &network) {
		testenv.MissingKernel(t, fmt.Sprintf("answer of the mirror: %v", err))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestDebiansOwnKernels(t *testing.T) {
	testenv.Plain(t)
	needMirror(t)
	c := newCache(t)
	for _, version := range []string{"5.10", "6.1", "6.12", "7.2"} {
		t.Run(version, func(t *testing.T) {
			begin := time.Now()
			k, err := c.Resolve(t.Context(), version)
			if err != nil {
				t.Fatal(err)
			}
			fetched := time.Since(begin)
			if !uname.Begins(k.Release, version) || !strings.Contains(k.Release, "-cloud-") || !strings.HasPrefix(k.Origin, "Debian ") {
				t.Errorf("got %s of %s", k.Release, k.Origin)
			}
			if !strings.Contains(string(k.Config), "\nCONFIG_BPF_SYSCALL=y\n") {
				t.Error("no config")
			}
			if _, err := k.vmlinux(); err != nil && k.Arch == "amd64" {
				t.Error(err)
			}
			modules, missing, err := k.Modules(needed...)
			if err != nil || len(missing) > 0 || len(modules) < len(needed)/2 {
				t.Errorf("modules %v, missing %v, error %v", moduleNames(modules), missing, err)
			}

			// From now on the cache has it.
			source := c.source
			c.source = func(context.Context, ...string) (*Kernel, error) { return nil, errors.New("asked again") }
			defer func() { c.source = source }()
			begin = time.Now()
			if _, err := c.Resolve(t.Context(), version); err != nil {
				t.Error(err)
			}
			t.Logf("%s: fetched in %s, ready to boot in %s", k.Release, fetched.Round(time.Millisecond), time.Since(begin).Round(time.Millisecond))
		})
	}
}

func TestASuiteThatIsNotDebians(t *testing.T) {
	needMirror(t)
	_, err := (debian.Archive{}).Find(t.Context(), "nope")
	imagetest.WantError(t, err, "get kernel of Debian nope: fetch", "/dists/nope/InRelease: 404")
}
