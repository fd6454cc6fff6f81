package subject

import (
	"testing"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/testenv"
)

// A map of maps still takes its maps: the kernel compares their flags with the template's.
func TestZeroSeedsOfInnerMaps(t *testing.T) {
	testenv.Root(t)
	inner := &ebpf.MapSpec{Name: "inner", Type: ebpf.Hash, KeySize: 4, ValueSize: 4, MaxEntries: 3}
	spec := &ebpf.CollectionSpec{Maps: map[string]*ebpf.MapSpec{
		"inner": inner,
		"outer": {
			Name: "outer", Type: ebpf.ArrayOfMaps, KeySize: 4, ValueSize: 4, MaxEntries: 2, InnerMap: inner.Copy(),
			Contents: []ebpf.MapKV{{Key: uint32(0), Value: "inner"}},
		},
	}}
	ZeroSeeds(spec)
	coll, err := ebpf.NewCollection(spec)
	if err != nil {
		t.Fatal(err)
	}
	coll.Close()
}
