package object

import (
	"maps"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

// only copies programs with the maps, and through them the programs, that they
// refer to, so that nothing else of the object can fail to load.
func only(spec *ebpf.CollectionSpec, programs ...string) *ebpf.CollectionSpec {
	keep := map[string]bool{}
	for _, program := range programs {
		maps.Copy(keep, Reach(spec, program))
	}
	// The whole is not copied first: of a thousand programs, that would take a thousand
	// times as long. The types are never changed.
	part := &ebpf.CollectionSpec{
		Maps: map[string]*ebpf.MapSpec{}, Programs: map[string]*ebpf.ProgramSpec{}, Variables: map[string]*ebpf.VariableSpec{},
		Types: spec.Types, ByteOrder: spec.ByteOrder,
	}
	for name := range keep {
		if p := spec.Programs[name]; p != nil {
			part.Programs[name] = p.Copy()
		}
		if m := spec.Maps[name]; m != nil {
			part.Maps[name] = m.Copy()
		}
	}
	for name, v := range spec.Variables {
		if part.Maps[v.SectionName] != nil {
			part.Variables[name] = v.Copy()
		}
	}
	return part
}

// Reach returns the names of the programs and maps that a program needs,
// including itself: maps from its instructions, programs and inner maps from
// the contents of those maps.
func Reach(spec *ebpf.CollectionSpec, program string) map[string]bool {
	seen := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		if seen[name] {
			return
		}
		seen[name] = true
		if p := spec.Programs[name]; p != nil {
			for i := range p.Instructions {
				if ins := &p.Instructions[i]; ins.IsLoadFromMap() && ins.Reference() != "" {
					visit(ins.Reference())
				}
			}
		}
		if m := spec.Maps[name]; m != nil {
			for _, kv := range m.Contents {
				if name, ok := kv.Value.(string); ok {
					visit(name)
				}
			}
		}
	}
	visit(program)
	return seen
}

// Calls reports whether a program calls a helper of the kernel.
func Calls(p *ebpf.ProgramSpec, helper asm.BuiltinFunc) bool {
	for i := range p.Instructions {
		if ins := &p.Instructions[i]; ins.IsBuiltinCall() && asm.BuiltinFunc(ins.Constant) == helper {
			return true
		}
	}
	return false
}
