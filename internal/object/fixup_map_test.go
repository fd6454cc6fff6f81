package object

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/internal/testenv"
)

func TestMapSizes(t *testing.T) {
	page := uint32(os.Getpagesize())
	for _, c := range []struct {
		name string
		in   ebpf.MapSpec
		want uint32
	}{
		{"a ring buffer of no size", ebpf.MapSpec{Type: ebpf.RingBuf}, page},
		{"one of less than a page", ebpf.MapSpec{Type: ebpf.RingBuf, MaxEntries: 1000}, page},
		{"one of three pages", ebpf.MapSpec{Type: ebpf.UserRingbuf, MaxEntries: 3 * page}, 4 * page},
		{"one that fits", ebpf.MapSpec{Type: ebpf.RingBuf, MaxEntries: 8 * page}, 8 * page},
		{"the largest", ebpf.MapSpec{Type: ebpf.RingBuf, MaxEntries: 1<<32 - 1}, 1 << 31},
		{"a hash without a size", ebpf.MapSpec{Type: ebpf.Hash}, raisedEntries},
		{"a hash with one", ebpf.MapSpec{Type: ebpf.Hash, MaxEntries: 7}, 7},
		{"a perf event array", ebpf.MapSpec{Type: ebpf.PerfEventArray}, 0},
		{"storage of sockets", ebpf.MapSpec{Type: ebpf.SkStorage}, 0},
	} {
		c.in.Name, c.in.Pinning = "m", ebpf.PinByName
		spec := &ebpf.CollectionSpec{
			Maps: map[string]*ebpf.MapSpec{"m": &c.in, "other": {Type: ebpf.Hash}},
			Programs: map[string]*ebpf.ProgramSpec{
				"p": {Instructions: asm.Instructions{asm.LoadMapPtr(asm.R1, 0).WithReference("m"), asm.Return()}},
				"q": {Instructions: asm.Instructions{asm.Return()}},
			},
		}
		got, changes := (&Object{spec: spec}).Program("p")
		m := got.Maps["m"]
		if m.MaxEntries != c.want || m.Pinning != ebpf.PinNone || len(got.Maps) != 1 || len(got.Programs) != 1 {
			t.Errorf("%s: %+v in %d maps, want %d entries", c.name, m, len(got.Maps), c.want)
		}
		if made := slices.ContainsFunc(changes, func(s string) bool { return strings.Contains(s, "instead of") }); made != (c.want != c.in.MaxEntries) {
			t.Errorf("%s: changes %q", c.name, changes)
		}
		if spec.Maps["m"].Pinning != ebpf.PinByName {
			t.Errorf("%s: the object has changed", c.name)
		}
	}
}

func TestMapStacks(t *testing.T) {
	testenv.Root(t)
	for size, want := range map[uint32]uint32{0: 1016, 80: 80} {
		spec := &ebpf.CollectionSpec{Maps: map[string]*ebpf.MapSpec{"stacks": {Type: ebpf.StackTrace, KeySize: 4, ValueSize: size, MaxEntries: 1}}}
		changes := fixMaps(spec)
		if got := spec.Maps["stacks"].ValueSize; got != want || (len(changes) > 0) != (size == 0) {
			t.Errorf("values of %d bytes become those of %d; %q", size, got, changes)
		}
		m, err := ebpf.NewMap(spec.Maps["stacks"])
		if err != nil {
			t.Errorf("the kernel refuses values of %d bytes: %v", want, err)
			continue
		}
		m.Close()
	}
}

func TestManyPinnedMapsAreOneChange(t *testing.T) {
	spec := &ebpf.CollectionSpec{Maps: map[string]*ebpf.MapSpec{}}
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		spec.Maps[name] = &ebpf.MapSpec{Type: ebpf.Hash, MaxEntries: 1, Pinning: ebpf.PinByName}
	}
	spec.Maps["e"].MaxEntries = 0
	want := []string{"map e has 64 entries instead of 0", "maps a, b, c and 2 more are not pinned: a run leaves nothing behind"}
	if got := fixMaps(spec); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestInnerMapIsSupplied(t *testing.T) {
	spec := &ebpf.CollectionSpec{
		Maps: map[string]*ebpf.MapSpec{"m": {Name: "m", Type: ebpf.ArrayOfMaps, KeySize: 4, ValueSize: 4, MaxEntries: 2}},
		Programs: map[string]*ebpf.ProgramSpec{
			"p": {Instructions: asm.Instructions{asm.LoadMapPtr(asm.R1, 0).WithReference("m"), asm.Return()}},
		},
	}
	got, changes := (&Object{spec: spec}).Program("p")
	if got.Maps["m"].InnerMap == nil || len(changes) != 1 {
		t.Errorf("%+v, changes %q", got.Maps["m"], changes)
	}
}

func TestMapsOfIproute2(t *testing.T) {
	for _, c := range []struct {
		extra []byte
		made  int
	}{
		{[]byte{0, 0, 0, 0, 0, 0, 0, 0}, 0},
		{[]byte{1, 0, 0, 0, 2, 0, 0, 0}, 1}, // an id, pinned globally
	} {
		spec := &ebpf.CollectionSpec{
			Maps: map[string]*ebpf.MapSpec{"m": {Name: "m", Type: ebpf.Array, KeySize: 4, ValueSize: 4, MaxEntries: 2, Extra: bytes.NewReader(c.extra)}},
			Programs: map[string]*ebpf.ProgramSpec{
				"p": {Instructions: asm.Instructions{asm.LoadMapPtr(asm.R1, 0).WithReference("m"), asm.Return()}},
			},
		}
		o := &Object{spec: spec}
		for range 2 {
			got, changes := o.Program("p")
			if got.Maps["m"].Extra != nil || len(changes) != c.made {
				t.Errorf("%v: %+v, changes %q", c.extra, got.Maps["m"], changes)
			}
		}
	}
}
