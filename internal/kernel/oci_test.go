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

	"github.com/org/ebpf-bench-action/internal/kernel/imagetest"
)

// pushed returns the reference of an image whose layers have these files.
func pushed(t *testing.T, layers ...imagetest.Files) (reference string, img v1.Image) {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	img = empty.Image
	for _, layer := range layers {
		data := imagetest.Tar(layer)
		l := imagetest.Must(tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }))
		img = imagetest.Must(mutate.AppendLayers(img, l))
	}
	reference = strings.TrimPrefix(server.URL, "http://") + "/kernels/linux:6.12"
	imagetest.Check(remote.Write(imagetest.Must(name.ParseReference(reference)), img))
	return reference, img
}

func TestAKernelOfAnOCIImage(t *testing.T) {
	f := imagetest.Installed()
	f["boot/vmlinuz"] = f["boot/vmlinuz-"+imagetest.Release]
	f["boot/config"] = f["boot/config-"+imagetest.Release]
	delete(f, "boot/vmlinuz-"+imagetest.Release)
	delete(f, "boot/config-"+imagetest.Release)
	reference, img := pushed(t, f)

	k, err := Source{}.Load(t.Context(), "oci:"+reference)
	wantTestKernel(t, k, err)
	want := "OCI image " + strings.TrimSuffix(reference, ":6.12") + "@" + imagetest.Must(img.Digest()).String()
	if k.Origin != want {
		t.Errorf("origin is %q, want %q", k.Origin, want)
	}
}

func TestAKernelOverLayers(t *testing.T) {
	// The second layer removes another kernel.
	vmlinux := imagetest.Vmlinux("5.10.0", imagetest.PVHNote)
	reference, _ := pushed(t,
		imagetest.Files{"boot/vmlinuz-5.10.0": imagetest.BzImage("5.10.0", vmlinux, imagetest.Gzip(vmlinux))},
		imagetest.Files{"boot/.wh.vmlinuz-5.10.0": nil},
		imagetest.Installed())
	k, err := fromOCI(t.Context(), reference, nil)
	wantTestKernel(t, k, err)
}

func TestOCIImagesThatAreRefused(t *testing.T) {
	reference, _ := pushed(t, imagetest.Files{"bin/sh": []byte("a shell")})
	for ref, want := range map[string]string{
		reference:           "no kernel image: neither boot/vmlinuz-* nor lib/modules/*/vmlinuz",
		reference + "-nope": "MANIFEST_UNKNOWN",
		"a b":               "could not parse reference",
	} {
		_, err := fromOCI(t.Context(), ref, nil)
		imagetest.WantError(t, err, "get kernel of OCI image "+ref, want)
	}
}
