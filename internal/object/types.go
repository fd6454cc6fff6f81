package object

import (
	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
)

// StripTypes removes the types and source lines that the kernel would read from
// a spec: from functions, instructions and maps. It keeps the CO-RE
// relocations.
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
			continue // consists only of its types
		}
		m.Key, m.Value = nil, nil
		if m.InnerMap != nil {
			m.InnerMap.Key, m.InnerMap.Value = nil, nil
		}
	}
}
