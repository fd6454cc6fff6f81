package insn

import (
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

// BenchmarkInstrument measures ns per instruction.
func BenchmarkInstrument(b *testing.B) {
	spec, err := ebpf.LoadCollectionSpec("../../programs/fun_xdp/fun_xdp_bpfel.o")
	if err != nil {
		b.Fatal(err)
	}
	measure(b, spec)
}

// BenchmarkInstrumentLong measures one function of 100,000 instructions that
// consists only of loops and branches.
func BenchmarkInstrumentLong(b *testing.B) {
	insns := asm.Instructions{nothing}
	for range 10_000 {
		insns = append(insns,
			asm.Add.Imm(asm.R0, 1), asm.Mov.Reg(asm.R6, asm.R0), ifZero(asm.R6, 2),
			asm.Add.Reg(asm.R7, asm.R0), asm.Add.Reg(asm.R8, asm.R0), asm.Add.Imm(asm.R0, 1),
			ifZero(asm.R0, -5), asm.Mov.Imm(asm.R1, 1), ifZero(asm.R8, 0), ifZero(asm.R7, -10),
		)
	}
	measure(b, xdp(map[string]asm.Instructions{"main": append(insns, exit)}))
}

func measure(b *testing.B, spec *ebpf.CollectionSpec) {
	n := 0
	for _, p := range spec.Programs {
		n += len(p.Instructions)
	}
	for b.Loop() {
		b.StopTimer()
		fresh := spec.Copy()
		b.StartTimer()
		if _, err := Instrument(fresh, Options{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/insn")
}
