package kernel

import (
	"context"
	"fmt"
	"runtime"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// FromOCI is the kernel of an OCI image, which has it where distributions do:
// /boot/vmlinuz and /lib/modules. The registry's credentials are those of
// docker login.
func FromOCI(ctx context.Context, reference string) (*Kernel, error) {
	k, err := fromOCI(ctx, reference)
	if err != nil {
		return nil, fmt.Errorf("get kernel of OCI image %s: %w", reference, err)
	}
	return k, nil
}

func fromOCI(ctx context.Context, reference string) (*Kernel, error) {
	ref, err := name.ParseReference(reference)
	if err != nil {
		return nil, err
	}
	img, err := remote.Image(ref,
		remote.WithContext(ctx),
		remote.WithAuthFromKeychain(authn.DefaultKeychain),
		remote.WithPlatform(v1.Platform{OS: "linux", Architecture: runtime.GOARCH}))
	if err != nil {
		return nil, err
	}
	digest, err := img.Digest()
	if err != nil {
		return nil, err
	}
	layers := mutate.Extract(img)
	defer layers.Close()
	files := newUnpacked()
	if err := files.addTar(layers); err != nil {
		return nil, err
	}
	k, err := files.tree().load("")
	if err != nil {
		return nil, err
	}
	k.Origin = "OCI image " + ref.Context().Digest(digest.String()).String()
	return k, nil
}
