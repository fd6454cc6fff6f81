package cli

import (
	"os"

	"github.com/org/ebpf-bench-action/internal/kernel"
	"github.com/org/ebpf-bench-action/internal/ui"
)

// OpenKernels opens the cache. It shows downloads on the terminal.
func OpenKernels(t *ui.Terminal, dir string) (*kernel.Cache, error) {
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
	cache.Progress, cache.Releases = Downloads(t), os.Getenv(ReleasesVariable)
	return cache, nil
}

// ReleasesVariable names a mirror of this tool's releases, as for the action.
const ReleasesVariable = "EBPF_BENCH_RELEASES"
