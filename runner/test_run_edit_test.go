package runner

import (
	"slices"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// edit returns a program that increments a byte of a packet of at least 20.
func edit(typ ebpf.ProgramType, data, end int16) *ebpf.ProgramSpec {
	return &ebpf.ProgramSpec{Type: typ, Instructions: asm.Instructions{
		asm.LoadMem(asm.R2, asm.R1, data, asm.Word),
		asm.LoadMem(asm.R3, asm.R1, end, asm.Word),
		asm.Mov.Reg(asm.R4, asm.R2),
		asm.Add.Imm(asm.R4, 20),
		asm.JGT.Reg(asm.R4, asm.R3, "out"),
		asm.LoadMem(asm.R5, asm.R2, 19, asm.Byte),
		asm.Add.Imm(asm.R5, 1),
		asm.StoreMem(asm.R2, 19, asm.R5, asm.Byte),
		asm.Mov.Imm(asm.R0, 2).WithSymbol("out"),
		asm.Return(),
	}}
}

func TestAProgramThatEditsItsPacketIsTold(t *testing.T) {
	const told = "the kernel runs the repeats of a call on what the run before left"
	xdp, cls := edit(ebpf.XDP, 0, 4), edit(ebpf.SchedCLS, 76, 80)
	two := []bench.Packet{{Hex: strings.Repeat("00", 18)}, {Hex: strings.Repeat("00", 64)}}
	shrink := &ebpf.ProgramSpec{Type: ebpf.XDP, Instructions: asm.Instructions{
		asm.Mov.Imm(asm.R2, -1), asm.FnXdpAdjustTail.Call(), asm.Mov.Imm(asm.R0, 2), asm.Return(),
	}}
	for name, c := range map[string]struct {
		program *ebpf.ProgramSpec
		run     bench.TestRun
		want    string
	}{
		"xdp":         {xdp, bench.TestRun{}, "changes its packet"},
		"sched_cls":   {cls, bench.TestRun{}, "changes its packet"},
		"one of two":  {xdp, bench.TestRun{Packets: two}, "changes 1 of its 2 packets"},
		"shorter":     {shrink, bench.TestRun{Repeat: 20}, "changes its packet"},
		"once a call": {xdp, bench.TestRun{Repeat: 1}, ""},
		"reader":      {&ebpf.ProgramSpec{Type: ebpf.XDP, Instructions: returns(2)}, bench.TestRun{}, ""},
		// It does not see the Ethernet header, which the kernel then returns as
		// zeros.
		"reader of layer 3": {&ebpf.ProgramSpec{Type: ebpf.LWTIn, Instructions: returns(0)}, bench.TestRun{Packets: []bench.Packet{{Eth: &bench.Eth{Src: "02:00:00:00:00:07"}, IPv4: &bench.IP{}, UDP: &bench.UDP{}}}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := c.program.Copy()
			r := measureJob(t, resolved(t, p, bench.Benchmark{TestRun: &c.run}))
			if r.Error != "" {
				t.Fatal(r.Error)
			}
			i := slices.IndexFunc(r.Warnings, func(w string) bool { return strings.Contains(w, told) })
			switch {
			case c.want == "" && i >= 0:
				t.Errorf("warned for nothing: %s", r.Warnings[i])
			case c.want != "" && (i < 0 || !strings.Contains(r.Warnings[i], c.want)):
				t.Errorf("warnings %q, want %q", r.Warnings, c.want)
			}
		})
	}
}
