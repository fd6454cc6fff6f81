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
	var uts unix.Utsname
	if err := unix.Uname(&uts); err != nil {
		return nil, fmt.Errorf("uname: %w", err)
	}
	return fromHost(os.DirFS("/"), unix.ByteSliceToString(uts.Release[:]))
}

func fromHost(root fs.FS, release string) (*Kernel, error) {
	k, err := loadHost(root, release)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil, bench.WithHint(
			fmt.Errorf("read this machine's kernel: %w", err),
			"Let root copy the kernel to where you can read it, and add the copy.")
	case err != nil:
		return nil, bench.WithHint(
			fmt.Errorf("find this machine's kernel %s: %w", release, err),
			"A machine whose kernel came from outside, as in a container or a cloud VM, has no image of it: add a kernel by version.")
	}
	k.Origin = "this machine"
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
