package bpfmap

import (
	"strings"
	"testing"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// Entries that the kernel would not take are refused before anything is loaded.
func TestEntriesFit(t *testing.T) {
	entries := func(keys ...any) (list []bench.MapEntry) {
		for _, key := range keys {
			list = append(list, bench.MapEntry{Key: key, Value: 1})
		}
		return list
	}
	values := []bench.MapEntry{{Value: 1}, {Value: 1}, {Value: 1}}
	const room = "3 entries are more than the 2 that it has room for"
	for _, c := range []struct {
		name string
		typ  ebpf.MapType
		key  uint32 // its size
		prep bench.MapPrep
		want string // what the error has, empty if they fit
	}{
		{"a full hash", ebpf.Hash, 4, bench.MapPrep{Entries: entries(1, 7)}, ""},
		{"too many", ebpf.Hash, 4, bench.MapPrep{Entries: entries(1, 7, 9)}, room},
		{"on each CPU", ebpf.PerCPUHash, 4, bench.MapPrep{Entries: entries(1, 7, 9)}, room},
		{"the same key", ebpf.Hash, 4, bench.MapPrep{Entries: entries(1, 7, 1)}, ""},
		{"over a file", ebpf.Hash, 4, bench.MapPrep{File: "1 7", Entries: entries(7)}, ""},
		{"beside a file", ebpf.Hash, 4, bench.MapPrep{File: "1 7", Entries: entries(9)}, room},
		{"beside generated ones", ebpf.Hash, 4, bench.MapPrep{Generate: &bench.GeneratedEntries{Count: 2, Keys: bench.PatternNumbered}, Entries: entries(9)}, room},
		{"evicted", ebpf.LRUHash, 4, bench.MapPrep{Entries: entries(1, 7, 9)}, ""},
		{"a queue", ebpf.Queue, 0, bench.MapPrep{Entries: values[:2]}, ""},
		{"equal values of a queue", ebpf.Queue, 0, bench.MapPrep{Entries: values}, room},
		{"a bloom filter", ebpf.BloomFilter, 0, bench.MapPrep{Entries: values}, ""},
		{"the last index", ebpf.Array, 4, bench.MapPrep{Entries: entries(0, 1, 1)}, ""},
		{"an index beyond", ebpf.Array, 4, bench.MapPrep{Entries: entries(0, 2)}, "entry 2: no index 2: the last is 1"},
		{"an index in hex", ebpf.PerCPUArray, 4, bench.MapPrep{Entries: entries("0xffffffff")}, "entry 1: no index 4294967295: the last is 1"},
		{"an index of a file", ebpf.Array, 4, bench.MapPrep{File: "1 2"}, "entry 2: no index 2: the last is 1"},
		{"prefixes", ebpf.LPMTrie, 8, bench.MapPrep{Entries: entries("0x08000000 0a000000", "0x09000000 0a000000", "0x09000000 0a800000")}, room},
		{"a prefix twice", ebpf.LPMTrie, 8, bench.MapPrep{Entries: entries("0x08000000 0a000000", "0x09000000 0a000000", "0x09000000 0a7fffff")}, ""},
		{"no prefix", ebpf.LPMTrie, 8, bench.MapPrep{Entries: entries("0x00000000 0a000000", "0x00000000 ffffffff", "0x20000000 ffffffff")}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &ebpf.MapSpec{Name: "m", Type: c.typ, KeySize: c.key, ValueSize: 4, MaxEntries: 2}
			readFile := func(name string) ([]byte, error) { // the keys are its name
				return []byte(strings.Join(strings.Fields(name), " 1\n") + " 1\n"), nil
			}
			_, err := Prepare(nil, &ebpf.CollectionSpec{Maps: map[string]*ebpf.MapSpec{"m": m}}, map[string]bench.MapPrep{"m": c.prep}, readFile)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}
