// Package kernel gets Linux kernels for a VM to boot: this machine's own, one
// of files, of Debian packages, of a Debian suite, or of an OCI image. It packs
// a kernel into one file, and keeps packed kernels in a cache. It knows nothing
// of QEMU, nor of what runs in the guest.
//
// The packages below it know one thing each: how distributions lay out a kernel,
// how its image is compressed, which modules need which. Whatever comes from
// outside is untrusted: each parser bounds what it reads, and each error names the
// file.
package kernel

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/org/ebpf-bench-action/internal/kernel/image"
	"github.com/org/ebpf-bench-action/internal/kernel/modules"
	"github.com/org/ebpf-bench-action/internal/kernel/pack"
	"github.com/org/ebpf-bench-action/internal/kernel/tree"
)

// Kernel is what a VM boots.
type Kernel struct {
	// Release is what uname -r prints, such as "6.12.107+deb13-cloud-amd64".
	Release string
	// Arch is the architecture as Go spells it, such as "amd64".
	Arch string
	// Origin says in words where the kernel comes from.
	Origin string
	// Digest names the packed kernel in a cache. It is empty for others.
	Digest string
	// Config is the kernel's .config, or nil.
	Config []byte
	// systemMap lists the kernel's symbols, or is nil. Debian ships none.
	systemMap []byte
	image     imageFile
	modules   *modules.Set
	// packed are the modules of a pack, which packing it anew keeps.
	packed []string
	// bootFile is where a cache keeps what BootFile would write, or empty.
	bootFile string
}

// imageFile is a kernel image whose format is known.
type imageFile struct {
	format image.Format
	read   func() ([]byte, error)
}

func imageOf(data []byte, f image.Format) imageFile {
	return imageFile{f, func() ([]byte, error) { return data, nil }}
}

// ofTree is the kernel that was found. It is ErrUnknown where its image is none.
func ofTree(p *tree.Kernel, err error) (*Kernel, error) {
	if errors.Is(err, image.ErrNotKernel) {
		err = noKernel(err)
	}
	if err != nil {
		return nil, err
	}
	return &Kernel{
		Release: p.Release, Arch: p.Arch, Config: p.Config, systemMap: p.SystemMap,
		image: imageOf(p.Image, p.Format), modules: p.Modules,
	}, nil
}

// Modules are the named modules and all that they depend on, in an order in
// which they load. What is built into the kernel needs no loading and is left
// out; missing are the names, also of dependencies, that the kernel does not
// have at all. Where a source lacks modules.builtin, nothing is known to be
// built in, and what is counts as missing.
func (k *Kernel) Modules(names ...string) (ordered []modules.Module, missing []string, err error) {
	ordered, missing, err = k.modules.Resolve(k.Release, names)
	if err != nil {
		return nil, nil, fmt.Errorf("find modules of %s: %w", k.Release, err)
	}
	return ordered, missing, nil
}

// vmlinux is the uncompressed ELF kernel, which QEMU boots by PVH without the
// time that a bzImage takes to unpack itself. It is ErrNoPVH for a kernel
// without CONFIG_PVH and for architectures other than x86.
func (k *Kernel) vmlinux() ([]byte, error) {
	data, err := k.image.read()
	if err != nil {
		return nil, err
	}
	vmlinux, err := image.Vmlinux(data, k.image.format)
	if err != nil {
		return nil, fmt.Errorf("extract vmlinux of %s: %w", k.Release, err)
	}
	return vmlinux, nil
}

// BootFile is a file that QEMU takes by -kernel: the vmlinux where there is
// one to boot, the image otherwise. It is written to dir unless a cache has it.
func (k *Kernel) BootFile(dir string) (string, error) {
	if k.bootFile != "" {
		return k.bootFile, nil
	}
	name, data, err := k.boot()
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, data, 0o644); err != nil {
		return "", fmt.Errorf("write kernel %s: %w", k.Release, err)
	}
	return file, nil
}

// boot is the best image to boot, and a name for it.
func (k *Kernel) boot() (name string, data []byte, err error) {
	data, err = k.vmlinux()
	if errors.Is(err, image.ErrNoPVH) {
		data, err = k.image.read()
		return pack.VmlinuzFile, data, err
	}
	return pack.VmlinuxFile, data, err
}
