package count

import (
	"strings"
	"testing"

	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
	"github.com/org/ebpf-bench-action/runner/internal/plan/plantest"
)

// The error does not blame a program that loads, but does not with counters.
func TestWithCountersItIsTooLarge(t *testing.T) {
	testenv.Root(t)
	// A loop that the verifier follows to its end. It is long, because the
	// verifier compares states only there, and each of its blocks gets a
	// counter.
	const blocks = 400
	insns := asm.Instructions{asm.Mov.Imm(asm.R1, 0)}
	for range blocks {
		insns = append(insns, asm.Add.Imm(asm.R1, 1), asm.JEq.Imm(asm.R1, -1, "end"))
	}
	insns[1] = insns[1].WithSymbol("again")
	job := plantest.Made(t, "test_run: {packets: [{ipv4: {}, udp: {}}]}", append(insns,
		asm.JLT.Imm(asm.R1, 450_000, "again"), asm.Mov.Imm(asm.R0, 2).WithSymbol("end"), asm.Return()))
	x := Explain(t.Context(), plan.PairJob{Head: job}, false)
	if !strings.HasPrefix(x.Error, "with counters program made is too large for the verifier") || x.Hint != "" || x.Log != "" {
		t.Errorf("error %.200q, hint %q, a log of %d bytes", x.Error, x.Hint, len(x.Log))
	}
}

// A program without a spare register or place on the stack gets a hint how to
// spare one.
func TestNoRoomForCounters(t *testing.T) {
	testenv.Root(t)
	var insns asm.Instructions
	insns = append(insns, asm.Mov.Imm(asm.R0, 1), asm.StoreMem(asm.R10, -512, asm.R0, asm.DWord), asm.LoadMem(asm.R0, asm.R1, 16, asm.Word))
	for r := asm.R2; r <= asm.R9; r++ {
		insns = append(insns, asm.Mov.Reg(r, asm.R0))
	}
	insns = append(insns, asm.JEq.Imm(asm.R0, 1, "add"), asm.Add.Imm(asm.R2, 1), asm.LoadMem(asm.R1, asm.R1, 12, asm.Word).WithSymbol("add"))
	for r := asm.R1; r <= asm.R9; r++ {
		insns = append(insns, asm.Add.Reg(asm.R0, r))
	}
	job := plantest.Made(t, "test_run: {packets: [{ipv4: {}, udp: {}}]}", append(insns, asm.Return()))
	x := Explain(t.Context(), plan.PairJob{Head: job}, false)
	if !strings.Contains(x.Error, "no room on the stack") || !strings.Contains(x.Hint, "512 bytes") {
		t.Errorf("error %q, hint %q", x.Error, x.Hint)
	}
}
