package stranger

import (
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/runner"
)

// BenchmarkClassify runs a program of five instructions and a loop.
func BenchmarkClassify(b *testing.B) {
	runner.Need(b)
	spec := &ebpf.CollectionSpec{Programs: map[string]*ebpf.ProgramSpec{"classify": {
		Name: "classify", Type: ebpf.XDP, License: "GPL",
		Instructions: asm.Instructions{
			asm.Mov.Imm(asm.R1, 100).WithSymbol("classify"),
			asm.Sub.Imm(asm.R1, 1).WithSymbol("again"),
			asm.JNE.Imm(asm.R1, 0, "again"),
			asm.Mov.Imm(asm.R0, 2),
			asm.Return(),
		},
	}}}
	coll, err := ebpf.NewCollection(spec.Copy())
	if err != nil {
		b.Fatal(err)
	}
	defer coll.Close()
	runner.Bench(b, coll.Programs["classify"], runner.Frame(make([]byte, 64)), runner.Counted(spec, "classify"))
}
