package object

import (
	"math"
	"math/bits"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// MapMemory returns about how many bytes the kernel needs to create a map on a
// machine with this many CPUs. It excludes memory that is needed only once the
// map is filled.
func MapMemory(m *ebpf.MapSpec, cpus int) uint64 {
	const (
		pointer = 8
		bucket  = 16
		element = 48 // struct htab_elem, see kernel/bpf/hashtab.c
	)
	entries, key, value := uint64(m.MaxEntries), round8(m.KeySize), round8(m.ValueSize)
	switch m.Type {
	case ebpf.Array, ebpf.Queue, ebpf.Stack:
		return product(entries, value)
	case ebpf.PerCPUArray:
		return product(entries, pointer+uint64(cpus)*value)
	case ebpf.RingBuf, ebpf.UserRingbuf:
		return entries
	case ebpf.StackTrace:
		return product(powerOf2(entries), pointer+element+value)
	case ebpf.Hash, ebpf.LRUHash, ebpf.PerCPUHash, ebpf.LRUCPUHash, ebpf.HashOfMaps:
		if m.Flags&unix.BPF_F_NO_PREALLOC != 0 {
			return product(powerOf2(entries), bucket)
		}
		if m.Type == ebpf.PerCPUHash || m.Type == ebpf.LRUCPUHash {
			value = pointer + uint64(cpus)*value
		}
		return product(powerOf2(entries), bucket) + product(entries, element+key+value)
	case ebpf.LPMTrie, ebpf.Arena, ebpf.SkStorage, ebpf.TaskStorage, ebpf.InodeStorage, ebpf.CgroupStorage,
		ebpf.CGroupStorage, ebpf.PerCPUCGroupStorage:
		return 0
	case ebpf.BloomFilter:
		return entries
	}
	return product(powerOf2(entries), bucket)
}

func round8(n uint32) uint64 { return (uint64(n) + 7) &^ 7 }

func powerOf2(n uint64) uint64 {
	if n <= 1 {
		return n
	}
	return 1 << bits.Len64(n-1)
}

// product returns a * b, but at most half of the largest number, so that two
// products can be added.
func product(a, b uint64) uint64 {
	if hi, lo := bits.Mul64(a, b); hi == 0 && lo <= math.MaxInt64 {
		return lo
	}
	return math.MaxInt64
}
