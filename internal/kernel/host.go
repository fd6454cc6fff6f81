package kernel

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// FromHost is the kernel that this machine runs, as its distribution
// installed it.
func FromHost() (*Kernel, error) {
	release, err := hostRelease()
	if err != nil {
		return nil, err
	}
	return fromHost(os.DirFS("/"), release)
}

// originHost is the origin of the kernel that the machine runs.
const originHost = "this machine"

// hostRelease is the release of the kernel that this machine runs.
func hostRelease() (string, error) {
	var uts unix.Utsname
	if err := unix.Uname(&uts); err != nil {
		return "", fmt.Errorf("uname: %w", err)
	}
	return unix.ByteSliceToString(uts.Release[:]), nil
}

func fromHost(root fs.FS, release string) (*Kernel, error) {
	k, err := loadHost(root, release)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil, bench.WithHint(
			fmt.Errorf("read this machine's kernel: %w", err),
			"Let root pack it, and add that: sudo ebpf-bench kernel pack host --out host.tar.zst, then ebpf-bench kernel add host.tar.zst.")
	case err != nil:
		return nil, bench.WithHint(
			fmt.Errorf("find this machine's kernel %s: %w", release, err),
			"A machine whose kernel came from outside, as in a container or a cloud VM, has no image of it: add a kernel by version.")
	}
	k.Origin = originHost
	return k, nil
}

func loadHost(root fs.FS, release string) (*Kernel, error) {
	t, err := dirTree(root, "boot", modulesDir+release)
	if err != nil {
		return nil, err
	}
	// Other kernels in /boot may be many, and need not be readable.
	t.names = slices.DeleteFunc(t.names, func(name string) bool {
		dir, file := locate(name)
		return dir == "boot" && !strings.HasSuffix(file, "-"+release)
	})
	return t.load(release)
}
