package main

import (
	"os"

	"github.com/org/ebpf-bench-action/internal/kernel"
	"github.com/org/ebpf-bench-action/internal/ui"
)

// openKernels opens the cache. What it lacks and gets is shown on the terminal.
func openKernels(t *ui.Terminal, dir string) (*kernel.Cache, error) {
	var err error
	if dir == "" {
		if dir, err = kernel.DefaultCacheDir(); err != nil {
			return nil, err
		}
	}
	cache, err := kernel.OpenCache(dir)
	if err != nil {
		return nil, err
	}
	cache.Progress, cache.Releases = newDownloads(t), os.Getenv(releasesVariable)
	return cache, nil
}

// releasesVariable names a mirror of this tool's releases, as for the action.
const releasesVariable = "EBPF_BENCH_RELEASES"
