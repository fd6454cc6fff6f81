package kernel

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/org/ebpf-bench-action/internal/kernel/fetch"
	"github.com/org/ebpf-bench-action/internal/kernel/tree"
)

// fromOCI returns the kernel of an OCI image, which has it where distributions do:
// /boot/vmlinuz and /lib/modules. It uses the registry credentials of docker login.
//
// The error is ErrUnknown if the reference names no image, or the image has no kernel.
func fromOCI(ctx context.Context, reference string, p fetch.Progress) (*Kernel, error) {
	k, err := pull(ctx, reference, p)
	if err != nil {
		return nil, fmt.Errorf("get kernel of OCI image %s: %w", reference, err)
	}
	return k, nil
}

func pull(ctx context.Context, reference string, p fetch.Progress) (*Kernel, error) {
	ref, err := name.ParseReference(reference)
	if err != nil {
		return nil, noKernel(err)
	}
	meter := &fetch.Meter{RoundTripper: remote.DefaultTransport}
	img, err := remote.Image(ref,
		remote.WithContext(ctx),
		remote.WithTransport(meter),
		remote.WithAuthFromKeychain(authn.DefaultKeychain),
		remote.WithPlatform(v1.Platform{OS: "linux", Architecture: runtime.GOARCH}))
	if isNotFound(err) {
		err = noKernel(err)
	}
	if err != nil {
		return nil, err
	}
	digest, err := img.Digest()
	if err != nil {
		return nil, err
	}
	size, err := layersOf(img)
	if err != nil {
		return nil, err
	}
	meter.Shown = fetch.Start(p, ref.String(), size)
	defer meter.Shown.End()
	files, err := extract(img)
	if err != nil {
		return nil, err
	}
	k, err := ofTree(files.Find())
	if err != nil {
		return nil, noKernel(err)
	}
	k.Origin = "OCI image " + ref.Context().Digest(digest.String()).String()
	return k, nil
}

// layersOf returns the size of an image's layers to download, in bytes.
func layersOf(img v1.Image) (size int64, err error) {
	m, err := img.Manifest()
	if err != nil {
		return 0, err
	}
	for _, layer := range m.Layers {
		size += layer.Size
	}
	return size, nil
}

func extract(img v1.Image) (*tree.Archive, error) {
	layers := mutate.Extract(img)
	defer layers.Close()
	files := tree.NewArchive()
	return files, files.AddTar(layers)
}

// isNotFound reports whether a registry answers that it does not have the image.
func isNotFound(err error) bool {
	var answer *transport.Error
	return errors.As(err, &answer) && answer.StatusCode == http.StatusNotFound
}
