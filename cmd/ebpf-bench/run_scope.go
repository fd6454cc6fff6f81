package main

import (
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/kernel"
	"github.com/org/ebpf-bench-action/thresholds"
)

// scope is what of the kernels is known before any is booted: how they are run,
// and the releases of this host and of those in the cache.
func (f *machineFlags) scope(t *terminal, inSuite []string) (thresholds.Scope, error) {
	host := thresholds.Kernel{Name: "host", Release: hostRelease()}
	names := f.choose(inSuite)
	if len(names) == 0 {
		return thresholds.Scope{Kernels: []thresholds.Kernel{host}, Modes: []bench.Mode{bench.ModeHost}}, nil
	}
	cache, err := openKernels(t, f.cache)
	if err != nil {
		return thresholds.Scope{}, err
	}
	scope := thresholds.Scope{Modes: []bench.Mode{bench.ModeExact}}
	if f.mode == "kvm" {
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

// measuredOn adds the releases that were measured on to the kernels that were
// asked for. Where one has none it is not known which is whose.
func measuredOn(asked []thresholds.Kernel, measured []*bench.Testbed) []thresholds.Kernel {
	var all []thresholds.Kernel
	for i, testbed := range measured {
		k := thresholds.Kernel{Release: testbed.Kernel}
		if len(asked) == len(measured) {
			k.Name = asked[i].Name
		}
		all = append(all, k)
	}
	if len(asked) > len(measured) {
		all = append(all, asked...)
	}
	return all
}

func testbeds(runs []*bench.Run) []*bench.Testbed {
	var all []*bench.Testbed
	for _, run := range runs {
		all = append(all, &run.Testbed)
	}
	return all
}

func headTestbeds(comparisons []*bench.Comparison) []*bench.Testbed {
	var all []*bench.Testbed
	for _, c := range comparisons {
		all = append(all, &c.Testbed)
	}
	return all
}
