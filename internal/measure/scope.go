package main

import (
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/cli"
	"github.com/org/ebpf-bench-action/internal/kernel"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/thresholds"
)

// hostKernel is the name of the kernel that this machine runs.
const hostKernel = "host"

// scopeOn is what of the kernels is known before any is booted: how they are run,
// and the releases of this host and of those in the cache.
func scopeOn(f *cli.MachineFlags, t *ui.Terminal, inSuite []string) (thresholds.Scope, error) {
	host := thresholds.Kernel{Name: hostKernel, Release: hostRelease()}
	names := f.Choose(inSuite)
	if len(names) == 0 {
		return thresholds.Scope{Kernels: []thresholds.Kernel{host}, Modes: []bench.Mode{bench.ModeHost}}, nil
	}
	cache, err := cli.OpenKernels(t, f.Cache)
	if err != nil {
		return thresholds.Scope{}, err
	}
	scope := thresholds.Scope{Modes: []bench.Mode{bench.ModeExact}}
	if f.Mode == "kvm" {
		scope.Modes = []bench.Mode{bench.ModeKVM}
	}
	for _, name := range names {
		k := host
		if name != host.Name {
			k = thresholds.Kernel{Name: name, Release: cachedRelease(cache, name)}
		}
		scope.Kernels = append(scope.Kernels, k)
	}
	return scope, nil
}

// cachedRelease is the release of a kernel in the cache, empty if it has none of
// that name.
func cachedRelease(cache *kernel.Cache, name string) string {
	path, err := cache.Path(name)
	if err != nil {
		return ""
	}
	// RELEASE_ARCH_DIGEST.tar.zst
	parts := strings.Split(filepath.Base(path), "_")
	return strings.Join(parts[:max(0, len(parts)-2)], "_")
}

func hostRelease() string {
	var uts unix.Utsname
	if err := unix.Uname(&uts); err != nil {
		return ""
	}
	return unix.ByteSliceToString(uts.Release[:])
}
