package kernel

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/kernel/tree"
)

// FromHost returns the running kernel of this machine, as its distribution installed it.
func FromHost() (*Kernel, error) {
	release, err := hostRelease()
	if err != nil {
		return nil, err
	}
	return fromHost(os.DirFS("/"), release)
}

// originHost is the origin of the machine's running kernel.
const originHost = "this machine"

// hostRelease returns the release of this machine's running kernel.
func hostRelease() (string, error) {
	var uts unix.Utsname
	if err := unix.Uname(&uts); err != nil {
		return "", fmt.Errorf("uname: %w", err)
	}
	return unix.ByteSliceToString(uts.Release[:]), nil
}

func fromHost(root fs.FS, release string) (*Kernel, error) {
	k, err := ofTree(tree.Installed(root, release))
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil, bench.WithHint(
			fmt.Errorf("read this machine's kernel: %w", err),
			"let root pack it, and add that: sudo ebpf-bench kernel pack host --out host.tar.zst, then ebpf-bench kernel add host.tar.zst")
	case err != nil:
		return nil, bench.WithHint(
			fmt.Errorf("find this machine's kernel %s: %w", release, err),
			"a machine whose kernel came from outside, as in a container or a cloud VM, has no image of it: add a kernel by version")
	}
	k.Origin = originHost
	return k, nil
}

// fromFiles returns the kernel of an image, a vmlinuz or a vmlinux, with the modules below
// a folder, as tree.OfFiles finds them.
func fromFiles(image, modules string) (*Kernel, error) {
	k, err := ofTree(tree.OfFiles(image, modules))
	if err != nil {
		return nil, err
	}
	k.Origin = "file " + filepath.Base(image)
	return k, nil
}

// fromDebs returns the kernel in one or more .deb files. Since Linux 6.18, Debian splits
// image, modules and config over several.
func fromDebs(names ...string) (*Kernel, error) {
	all := tree.NewArchive()
	for _, name := range names {
		if err := addDebFile(all, name); err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
	}
	k, err := ofTree(all.FindInDebs())
	if err != nil {
		return nil, bench.WithHint(fmt.Errorf("find a kernel in %s: %w", strings.Join(names, ", "), err), bench.Hint(err))
	}
	bases := make([]string, len(names))
	for i, name := range names {
		bases[i] = filepath.Base(name)
	}
	k.Origin = strings.Join(bases, ", ")
	return k, nil
}

func addDebFile(u *tree.Archive, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return u.AddDeb(f)
}
