package kernel

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/org/ebpf-bench-action/internal/kernel/debian"
	"github.com/org/ebpf-bench-action/internal/kernel/imagetest"
)

// released returns a Source without a mirror of Debian, whose release serves content as
// the pack of 6.12 and lists the checksum of want for it.
func released(t *testing.T, content, want []byte) Source {
	t.Helper()
	name := "linux-6.12-" + runtime.GOARCH + ".tar.zst"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if content == nil || r.URL.Path != "/v1.2.3/"+name {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(content)
	}))
	t.Cleanup(server.Close)
	return Source{
		apt: debian.Archive{Root: fstest.MapFS{"etc/apt/sources.list": {Data: []byte("deb http://a.example/ubuntu noble main")}}}, Releases: server.URL,
		packs: fmt.Sprintf("# Packed kernels of v1.2.3: as make release VERSION=v1.2.3 made them\n%s %d %s\n%s 9 linux-6.1-m68k.tar.zst\n", imagetest.Sum(want), len(want), name, imagetest.Sum(nil)),
	}
}

func TestWithoutAMirrorTheReleaseHasTheKernel(t *testing.T) {
	pack := packed(testKernel())
	for _, version := range []string{"6.12", "6.12.107", imagetest.Release} {
		k, err := released(t, pack, pack).Load(t.Context(), version)
		wantTestKernel(t, k, err)
	}
}

func TestPacksOfARelease(t *testing.T) {
	pack := packed(testKernel())
	const noMirror = "apt is not configured for a mirror of Debian"
	for _, c := range []struct {
		what, version string
		source        Source
		want, hint    string
	}{
		{"another pack", "6.12", released(t, imagetest.Edited(pack, func(b []byte) { b[len(b)/2]++ }), pack), "SHA-256 is ", ""},
		{"a longer one", "6.12", released(t, append(pack[:len(pack):len(pack)], 0), pack), "larger than", ""},
		{"no such asset", "6.12", released(t, nil, pack), noMirror + ", and the packed one of the release cannot be downloaded: fetch ", ""},
		{"no pack of a kernel", "6.12", released(t, []byte("hello"), []byte("hello")), ".tar.zst: ", ""},
		{"another kernel of the series", "6.12.999", released(t, pack, pack), noMirror + ", and the release v1.2.3 of this tool has Linux 6.12.107", "name the series, 6.12"},
		{"another series", "7.2", released(t, pack, pack), noMirror, "there are the packed kernels of the release: 6.12."},
		{"another architecture", "6.1", released(t, pack, pack), noMirror, "there are the packed kernels of the release: 6.12."},
		{"no release", "6.12", Source{apt: debian.Archive{Root: fstest.MapFS{}}, packs: "# Packed kernels of no release yet: x\n"}, noMirror, "container of Debian, such as debian:trixie"},
	} {
		_, err := c.source.Load(t.Context(), c.version)
		t.Log(c.what)
		imagetest.WantError(t, err, c.want)
		imagetest.WantHint(t, err, c.hint)
		if errors.Is(err, ErrUnknown) {
			t.Errorf("%s: %v is ErrUnknown", c.what, err)
		}
	}
}

// The committed list can be read, even if there is no release yet.
func TestCommittedPacks(t *testing.T) {
	p, err := parsePacks(committedPacks)
	if err != nil || p.tag == "" && len(p.all) > 0 || p.tag != "" && len(p.all) == 0 {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestPacksThatAreNone(t *testing.T) {
	line := imagetest.Sum(nil) + " 1 linux-6.12-amd64.tar.zst\n"
	for _, text := range []string{
		line, // names no release
		"# Packed kernels of v1.2.3: x\n" + strings.Replace(line, " 1 ", " 0 ", 1),
		"# Packed kernels of v1.2.3: x\n" + strings.Replace(line, "linux-6.12", "../linux-6.12", 1),
		"# Packed kernels of v1.2.3: x\n" + line[1:],
		"# Packed kernels of ../v1.2.3: x\n" + line,
	} {
		if p, err := parsePacks(text); err == nil {
			t.Errorf("%q is %+v", text, p)
		}
	}
}

// Root may have added the kernel that only root can read.
func TestTheHostsKernelThatRootAdded(t *testing.T) {
	release := imagetest.Must(hostRelease())
	c := newCache(t)
	locked := &fs.PathError{Op: "open", Path: "boot/vmlinuz", Err: fs.ErrPermission}
	c.source = func(context.Context, ...string) (*Kernel, error) { return nil, locked }
	of := func(release, origin string) {
		k := kernelNamed(release)
		k.Origin = origin
		imagetest.Must(c.Add(k))
	}
	of(release, "Debian trixie")
	of("1.2.3", originHost)
	if _, err := c.Resolve(t.Context(), "host"); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("another kernel is taken for it: %v", err)
	}
	of(release, originHost)
	if k, err := c.Resolve(t.Context(), "host"); err != nil || k.Release != release || k.Origin != originHost {
		t.Errorf("%+v, %v", k, err)
	}
	if _, err := c.Resolve(t.Context(), "6.99"); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("another name is taken for it: %v", err)
	}
}
