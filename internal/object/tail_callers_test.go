package object

import (
	"slices"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

// A program that others tail call belongs to them; one that only calls itself
// does not.
func TestTailCallers(t *testing.T) {
	load := func(ref string) *ebpf.ProgramSpec {
		return &ebpf.ProgramSpec{Type: ebpf.XDP, Instructions: asm.Instructions{asm.LoadMapPtr(asm.R1, 0).WithReference(ref), asm.Return()}}
	}
	spec := &ebpf.CollectionSpec{
		Programs: map[string]*ebpf.ProgramSpec{"entry": load("jumps"), "other": load("jumps"), "target": load("jumps"), "alone": load("own")},
		Maps: map[string]*ebpf.MapSpec{
			"jumps": {Type: ebpf.ProgramArray, Contents: []ebpf.MapKV{{Key: uint32(0), Value: "target"}}},
			"own":   {Type: ebpf.ProgramArray, Contents: []ebpf.MapKV{{Key: uint32(0), Value: "alone"}}},
		},
	}
	callers := (&Object{spec: spec}).TailCallers()
	if !slices.Equal(callers["target"], []string{"entry", "other"}) || len(callers) != 1 {
		t.Errorf("%v", callers)
	}
}
