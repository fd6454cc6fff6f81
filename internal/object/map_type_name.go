package object

import (
	"strings"

	"github.com/cilium/ebpf"
)

// MapTypeName spells a map's type as bpftool does.
func MapTypeName(t ebpf.MapType) string {
	if name, ok := mapTypeNames[t]; ok {
		return name
	}
	return strings.ToLower(t.String())
}

var mapTypeNames = map[ebpf.MapType]string{
	ebpf.ProgramArray:        "prog_array",
	ebpf.PerfEventArray:      "perf_event_array",
	ebpf.PerCPUHash:          "percpu_hash",
	ebpf.PerCPUArray:         "percpu_array",
	ebpf.StackTrace:          "stack_trace",
	ebpf.TaskStorage:         "task_storage",
	ebpf.CGroupArray:         "cgroup_array",
	ebpf.LRUHash:             "lru_hash",
	ebpf.LRUCPUHash:          "lru_percpu_hash",
	ebpf.LPMTrie:             "lpm_trie",
	ebpf.ArrayOfMaps:         "array_of_maps",
	ebpf.HashOfMaps:          "hash_of_maps",
	ebpf.CGroupStorage:       "cgroup_storage",
	ebpf.ReusePortSockArray:  "reuseport_sockarray",
	ebpf.PerCPUCGroupStorage: "percpu_cgroup_storage",
	ebpf.SkStorage:           "sk_storage",
	ebpf.DevMapHash:          "devmap_hash",
	ebpf.StructOpsMap:        "struct_ops",
	ebpf.RingBuf:             "ringbuf",
	ebpf.InodeStorage:        "inode_storage",
	ebpf.BloomFilter:         "bloom_filter",
	ebpf.UserRingbuf:         "user_ringbuf",
	ebpf.CgroupStorage:       "cgrp_storage",
}
