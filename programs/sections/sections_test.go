//go:build linux

package sections

import (
	"bytes"
	"testing"

	"github.com/cilium/ebpf"
)

// Each section must give a type to its program.
func TestEverySectionHasAType(t *testing.T) {
	spec, err := ebpf.LoadCollectionSpecFromReader(bytes.NewReader(Object()))
	if err != nil {
		t.Fatal(err)
	}
	types := map[ebpf.ProgramType]bool{}
	for name, p := range spec.Programs {
		if p.Type == ebpf.UnspecifiedProgram {
			t.Errorf("%s: section %s has no type", name, p.SectionName)
		}
		types[p.Type] = true
	}
	// All of the kernel's types except BPF_PROG_TYPE_UNSPEC; see enum
	// bpf_prog_type.
	for typ := ebpf.SocketFilter; typ <= ebpf.Netfilter; typ++ {
		if !types[typ] {
			t.Errorf("no section is of type %s", typ)
		}
	}
}
