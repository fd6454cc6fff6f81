package kernel

import (
	"bytes"
	"io"
	"log"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// pushed is the reference of an image whose layers have these files.
func pushed(t *testing.T, layers ...files) (reference string, img v1.Image) {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	img = empty.Image
	for _, layer := range layers {
		data := tarOf(layer)
		l := must(tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }))
		img = must(mutate.AppendLayers(img, l))
	}
	reference = strings.TrimPrefix(server.URL, "http://") + "/kernels/linux:6.12"
	check(remote.Write(must(name.ParseReference(reference)), img))
	return reference, img
}

func TestAKernelOfAnOCIImage(t *testing.T) {
	f := testFiles()
	f["boot/vmlinuz"] = f["boot/vmlinuz-"+testRelease]
	f["boot/config"] = f["boot/config-"+testRelease]
	delete(f, "boot/vmlinuz-"+testRelease)
	delete(f, "boot/config-"+testRelease)
	reference, img := pushed(t, f)

	k, err := Source{}.Load(t.Context(), "oci:"+reference)
	wantTestKernel(t, k, err)
	want := "OCI image " + strings.TrimSuffix(reference, ":6.12") + "@" + must(img.Digest()).String()
	if k.Origin != want {
		t.Errorf("origin is %q, want %q", k.Origin, want)
	}
}

func TestAKernelOverLayers(t *testing.T) {
	// The second layer removes another kernel.
	vmlinux := vmlinuxOf("5.10.0", pvhNote)
	reference, _ := pushed(t,
		files{"boot/vmlinuz-5.10.0": bzImageOf("5.10.0", vmlinux, gzipped(vmlinux))},
		files{"boot/.wh.vmlinuz-5.10.0": nil},
		testFiles())
	k, err := FromOCI(t.Context(), reference, nil)
	wantTestKernel(t, k, err)
}

func TestOCIImagesThatAreRefused(t *testing.T) {
	reference, _ := pushed(t, files{"bin/sh": []byte("a shell")})
	for ref, want := range map[string]string{
		reference:           "no kernel image: neither boot/vmlinuz-* nor lib/modules/*/vmlinuz",
		reference + "-nope": "MANIFEST_UNKNOWN",
		"a b":               "could not parse reference",
	} {
		_, err := FromOCI(t.Context(), ref, nil)
		wantError(t, err, "get kernel of OCI image "+ref, want)
	}
}
