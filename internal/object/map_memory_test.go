package object

import (
	"math"
	"testing"

	"github.com/cilium/ebpf"
)

func TestMapMemory(t *testing.T) {
	const noPrealloc = 1
	for _, c := range []struct {
		name string
		m    ebpf.MapSpec
		want uint64
	}{
		{"an array", ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: 5, MaxEntries: 100}, 800},
		{"one for each of 4 CPUs", ebpf.MapSpec{Type: ebpf.PerCPUArray, KeySize: 4, ValueSize: 8, MaxEntries: 100}, 100 * (8 + 4*8)},
		{"a hash", ebpf.MapSpec{Type: ebpf.Hash, KeySize: 4, ValueSize: 8, MaxEntries: 100}, 128*16 + 100*(48+8+8)},
		{"one that grows", ebpf.MapSpec{Type: ebpf.Hash, KeySize: 4, ValueSize: 8, MaxEntries: 100, Flags: noPrealloc}, 128 * 16},
		{"a ring buffer", ebpf.MapSpec{Type: ebpf.RingBuf, MaxEntries: 1 << 20}, 1 << 20},
		{"a trie", ebpf.MapSpec{Type: ebpf.LPMTrie, KeySize: 8, ValueSize: 8, MaxEntries: math.MaxUint32, Flags: noPrealloc}, 0},
		{"more than there is", ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: math.MaxUint32, MaxEntries: math.MaxUint32}, math.MaxInt64},
	} {
		if got := MapMemory(&c.m, 4); got != c.want {
			t.Errorf("%s takes %d bytes, want %d", c.name, got, c.want)
		}
	}
}

func TestTypeNames(t *testing.T) {
	// Netfilter is the last type that the kernel has.
	for typ := ebpf.UnspecifiedProgram; typ <= ebpf.Netfilter; typ++ {
		if typeNames[typ] == "" {
			t.Errorf("program type %s has no name", typ)
		}
	}
	if got := TypeName(ebpf.RawTracepointWritable); got != "raw_tracepoint_writable" {
		t.Error(got)
	}
}
