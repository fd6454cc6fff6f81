package kernel

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/org/ebpf-bench-action/internal/kernel/image"
	"github.com/org/ebpf-bench-action/internal/kernel/imagetest"
)

func TestAKernelWithoutPVHBootsByItsImage(t *testing.T) {
	vmlinux := imagetest.Vmlinux(imagetest.Release, nil)
	data := imagetest.BzImage(imagetest.Release, vmlinux, imagetest.Gzip(vmlinux))
	k := &Kernel{Release: imagetest.Release, image: imageOf(data, image.BzImage)}

	if _, err := k.vmlinux(); !errors.Is(err, image.ErrNoPVH) {
		t.Errorf("vmlinux: error %v", err)
	}
	file, err := k.BootFile(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if got := imagetest.Must(os.ReadFile(file)); filepath.Base(file) != "vmlinuz" || !bytes.Equal(got, data) {
		t.Errorf("boots %s of %d bytes", file, len(got))
	}
}

func TestAKernelWithPVHBootsByItsVmlinux(t *testing.T) {
	file, err := testKernel().BootFile(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if got := imagetest.Must(os.ReadFile(file)); filepath.Base(file) != "vmlinux" || !bytes.Equal(got, imagetest.Vmlinux(imagetest.Release, imagetest.PVHNote)) {
		t.Errorf("boots %s of %d bytes", file, len(got))
	}
}

func TestModulesComeAfterTheirDependencies(t *testing.T) {
	k := testKernel()
	got, missing, err := k.Modules("cls_bpf", "veth", "virtio-pci", "b-part", "nope")
	if err != nil {
		t.Fatal(err)
	}
	// A dash is an underscore, and built-in modules need no loading.
	if want := []string{"b_part", "a", "cls_bpf", "veth"}; !slices.Equal(moduleNames(got), want) {
		t.Errorf("got %v, want %v", moduleNames(got), want)
	}
	if !slices.Equal(missing, []string{"nope"}) {
		t.Errorf("missing %v", missing)
	}
	if !bytes.Equal(got[0].Data, imagetest.ModuleNamed("b_part")) {
		t.Error("b_part is not unpacked")
	}
}
