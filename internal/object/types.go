package object

import (
	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
)

// StripTypes takes the types and source lines off a spec that the kernel takes
// too: off functions, instructions and maps. What relocates instructions for
// the kernel's types stays.
func StripTypes(spec *ebpf.CollectionSpec) {
	for _, p := range spec.Programs {
		for i, ins := range p.Instructions {
			if btf.FuncMetadata(&ins) != nil {
				ins = btf.WithFuncMetadata(ins, nil)
			}
			p.Instructions[i] = ins.WithSource(nil)
		}
	}
	for _, m := range spec.Maps {
		if m.Type == ebpf.StructOpsMap {
			continue // is nothing but its types
		}
		m.Key, m.Value = nil, nil
		if m.InnerMap != nil {
			m.InnerMap.Key, m.InnerMap.Value = nil, nil
		}
	}
}
