package runner

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/testenv"
)

// Names in an object have no limit. An explanation that has them can be read
// back, as happens when it comes out of a virtual machine.
func TestLongNamesAreRead(t *testing.T) {
	testenv.Root(t)
	long := strings.Repeat("n", 5000)
	job := jobOf(t, "test_run: {packets: [{ipv4: {}, udp: {}}]}", asm.Instructions{
		asm.LoadMapValue(asm.R1, 0, 0).WithReference(long).WithSymbol(long), asm.Mov.Imm(asm.R0, 2), asm.Return(),
	})
	job.Spec.Maps[long] = &ebpf.MapSpec{Name: "state", Type: ebpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: 1}
	job.Spec.Programs[long] = job.Spec.Programs["made"]
	delete(job.Spec.Programs, "made")
	job.Program = long
	e, err := Explain(context.Background(), []PairJob{{Base: job, Head: job}}, Options{}, true)
	if err != nil {
		t.Fatal(err)
	}
	if p := e.Programs[0]; p.Error != "" || len(p.Lines) == 0 || !strings.Contains(p.Lines[0].Head.Code[0].Text, "nnn") {
		t.Fatalf("error %.300q, %d lines", p.Error, len(p.Lines))
	}
	if p := e.Programs[0]; p.Lines[0].Program != p.Head.Program {
		t.Errorf("lines are of %.20q, and the program is %.20q", p.Lines[0].Program, p.Head.Program)
	}
	var text bytes.Buffer
	if err := bench.EncodeExplanations(&text, e); err != nil {
		t.Fatal(err)
	}
	if _, err := bench.DecodeExplanation(&text); err != nil {
		t.Error(err)
	}
}
