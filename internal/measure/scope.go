package measure

import (
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/fleet"
	"github.com/org/ebpf-bench-action/internal/kernel"
	"github.com/org/ebpf-bench-action/internal/probe"
	"github.com/org/ebpf-bench-action/thresholds"
)

// Scope returns what is known about the kernels before any is booted: how they are run,
// and the releases of this host and of those in the cache.
func Scope(m *fleet.Machines, inSuite []string) (thresholds.Scope, error) {
	host := thresholds.Kernel{Name: fleet.Host, Release: probe.Testbed().Kernel}
	names := m.Choose(inSuite)
	if len(names) == 0 {
		return thresholds.Scope{Kernels: []thresholds.Kernel{host}, Modes: []bench.Mode{bench.ModeHost}}, nil
	}
	cache, err := kernel.OpenCache(m.Cache)
	if err != nil {
		return thresholds.Scope{}, err
	}
	scope := thresholds.Scope{Modes: []bench.Mode{bench.ModeExact}}
	if m.Mode == "kvm" {
		scope.Modes = []bench.Mode{bench.ModeKVM}
	}
	for _, name := range names {
		k := host
		if name != host.Name {
			k = thresholds.Kernel{Name: name, Release: cache.Release(name)}
		}
		scope.Kernels = append(scope.Kernels, k)
	}
	return scope, nil
}
