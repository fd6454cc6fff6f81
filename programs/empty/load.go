//go:build linux

package empty

import "github.com/cilium/ebpf"

// Load is the object with all empty programs, none of them in the kernel yet.
func Load() (*ebpf.CollectionSpec, error) { return loadBpf() }
