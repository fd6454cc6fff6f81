package kernel

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/org/ebpf-bench-action/internal/kernel/image"
	"github.com/org/ebpf-bench-action/internal/kernel/imagetest"
)

func TestAKernelWithoutPVHBootsByItsImage(t *testing.T) {
	vmlinux := imagetest.Vmlinux(imagetest.Release, nil)
	data := imagetest.BzImage(imagetest.Release, vmlinux, imagetest.Gzip(vmlinux))
	k := &Kernel{Release: imagetest.Release, image: imageOf(data, image.BzImage)}

	if _, err := k.Vmlinux(); !errors.Is(err, image.ErrNoPVH) {
		t.Errorf("vmlinux: error %v", err)
	}
	file, err := k.BootFile(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if got := imagetest.Must(os.ReadFile(file)); filepath.Base(file) != vmlinuzName || !bytes.Equal(got, data) {
		t.Errorf("boots %s of %d bytes", file, len(got))
	}
}

func TestAKernelWithPVHBootsByItsVmlinux(t *testing.T) {
	file, err := testKernel().BootFile(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if got := imagetest.Must(os.ReadFile(file)); filepath.Base(file) != vmlinuxName || !bytes.Equal(got, imagetest.Vmlinux(imagetest.Release, imagetest.PVHNote)) {
		t.Errorf("boots %s of %d bytes", file, len(got))
	}
}
