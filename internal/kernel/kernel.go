// Package kernel loads Linux kernels for a VM to boot: this machine's own, or one from
// files, Debian packages, a Debian suite or an OCI image. It packs a kernel into one file,
// and keeps packed kernels in a cache. It knows nothing about QEMU, or about the guest.
//
// Each package below it knows one thing: how distributions lay out a kernel, how its image
// is compressed, which modules need which. All input from outside is untrusted: each
// parser bounds what it reads, and each error names the file.
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

// Kernel is a kernel that a VM can boot.
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
	// packed are the modules of a pack, which repacking keeps.
	packed []string
	// bootFile is the file in the cache that equals the one BootFile would write, or
	// empty.
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

// ofTree returns the kernel that was found. The error is ErrUnknown if its image is not a
// kernel.
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

// Modules returns the named modules and all their dependencies, in an order in which they
// load. Modules that are built into the kernel need no loading and are left out; missing
// are the names, also of dependencies, that the kernel does not have at all. If a source
// lacks modules.builtin, modules that are built in count as missing.
func (k *Kernel) Modules(names ...string) (ordered []modules.Module, missing []string, err error) {
	ordered, missing, err = k.modules.Resolve(k.Release, names)
	if err != nil {
		return nil, nil, fmt.Errorf("find modules of %s: %w", k.Release, err)
	}
	return ordered, missing, nil
}

// vmlinux returns the uncompressed ELF kernel, which QEMU boots by PVH without the time
// that a bzImage takes to unpack itself. The error is ErrNoPVH for a kernel without
// CONFIG_PVH and for architectures other than x86.
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

// BootFile returns a file for QEMU's -kernel: the vmlinux if there is one that boots, else
// the image. It writes the file to dir unless a cache has it.
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

// boot returns the best image to boot, and a file name for it.
func (k *Kernel) boot() (name string, data []byte, err error) {
	data, err = k.vmlinux()
	if errors.Is(err, image.ErrNoPVH) {
		data, err = k.image.read()
		return pack.VmlinuzFile, data, err
	}
	return pack.VmlinuxFile, data, err
}
