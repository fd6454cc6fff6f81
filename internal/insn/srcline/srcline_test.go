package srcline

import (
	"bytes"
	"slices"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/internal/insn"
	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/programs"
)

// A line is reached if the instructions that stay where they were written are:
// those that the compiler moved in front of a branch do not count.
func TestLineTimes(t *testing.T) {
	p := &insn.Program{Instructions: asm.Instructions{
		asm.Mov.Imm(asm.R1, 1),                     // 0: moved
		asm.JEq.Imm(asm.R0, 0, "out"),              // 1
		asm.LoadMem(asm.R2, asm.R0, 0, asm.DWord),  // 2
		asm.Add.Reg(asm.R2, asm.R1),                // 3
		asm.StoreMem(asm.R0, 0, asm.R2, asm.DWord), // 4
		asm.FnMapLookupElem.Call(),                 // 5
		asm.Return(),                               // 6
	}}
	executed := []uint64{9, 8, 0, 0, 0, 3, 9}
	for _, c := range []struct {
		name    string
		offsets []int
		want    uint64
	}{
		{"a store that was not reached, behind what was moved", []int{0, 2, 3, 4}, 0},
		{"just what computes", []int{0, 2}, 9},
		{"a condition", []int{0, 1}, 8},
		{"a call", []int{0, 5}, 3},
		{"the most executed that stays", []int{0, 1, 5, 6}, 9},
		{"nothing", nil, 0},
	} {
		if got := (&Line{Offsets: c.offsets}).TimesOf(p, executed); got != c.want {
			t.Errorf("%s: %d times, want %d", c.name, got, c.want)
		}
	}
}

// Without lines of source there are blocks, in order, distinguished by their
// instructions.
func TestLinesAreBlocks(t *testing.T) {
	spec := &ebpf.CollectionSpec{Programs: map[string]*ebpf.ProgramSpec{"main": {Type: ebpf.XDP, Instructions: asm.Instructions{
		asm.Mov.Imm(asm.R6, 10),
		asm.Add.Imm(asm.R6, -1).WithSymbol("loop"),
		asm.JNE.Imm(asm.R6, 0, "loop"),
		asm.Mov.Imm(asm.R1, 0), asm.FnGetPrandomU32.Call(), asm.Return(),
	}}}}
	table, err := insn.Instrument(spec, insn.Options{})
	if err != nil {
		t.Fatal(err)
	}
	lines := Of(table.Program("main"), []uint64{1, 10, 10, 1, 1, 1})
	if len(lines) != 3 || Known(table.Programs) {
		t.Fatalf("%+v", lines)
	}
	for i, want := range []Line{{First: 0, Instructions: 1, Times: 1, Executed: 1}, {First: 1, Instructions: 2, Times: 10, Executed: 20}, {First: 3, Instructions: 3, Times: 1, Executed: 3, Calls: []string{"bpf_get_prandom_u32"}}} {
		if l := lines[i]; l.First != want.First || l.Instructions != want.Instructions || l.Times != want.Times || l.Executed != want.Executed || !slices.Equal(l.Calls, want.Calls) || l.File != "" || l.Number != 0 {
			t.Errorf("block %d: %+v, want %+v", i, l, want)
		}
	}
	// If a block was added, the others still match.
	joined := Join(lines[1:], lines)
	if len(joined) != 3 || joined[0].Base != nil || joined[1].Base != &lines[1] || joined[2].Base != &lines[2] {
		t.Errorf("%+v", joined)
	}
}

// The lines of the loop are the dearest, and lines make up the program.
func TestLinesOfFibonacci(t *testing.T) {
	testenv.Probe(t, "test_run xdp")
	const program = "fun_xdp_fibonacci_slow"
	object, err := programs.FS.ReadFile("fun_xdp/fun_xdp_bpfel.o")
	if err != nil {
		t.Fatal(err)
	}
	spec, err := ebpf.LoadCollectionSpecFromReader(bytes.NewReader(object))
	if err != nil {
		t.Fatal(err)
	}
	table, err := insn.Instrument(spec, insn.Options{})
	if err != nil {
		t.Fatal(err)
	}
	coll, err := ebpf.NewCollection(spec)
	if err != nil {
		t.Fatal(err)
	}
	defer coll.Close()
	packet := make([]byte, 34)
	packet[12], packet[14], packet[26], packet[29] = 0x08, 0x45, 10, 89
	if _, _, err := coll.Programs[program].Test(packet); err != nil {
		t.Fatal(err)
	}
	counts, err := table.Read(coll)
	if err != nil {
		t.Fatal(err)
	}

	lines := Of(table.Program(program), counts.Instructions(program))
	if !slices.IsSortedFunc(lines, func(a, b Line) int { return a.Number - b.Number }) {
		t.Error("lines are not in order")
	}
	var executed uint64
	instructions := 0
	dearest := lines[0]
	for _, l := range lines {
		executed += l.Executed
		instructions += l.Instructions
		if l.Executed > dearest.Executed {
			dearest = l
		}
		if l.Number == 0 || l.File == "" || l.Text == "" {
			t.Errorf("line without a place or text: %+v", l)
		}
	}
	if executed != counts.Executed(program) || instructions != len(table.Program(program).Instructions) {
		t.Errorf("lines make up %d instructions that were executed %d times", instructions, executed)
	}
	if dearest.Text != "\tfor (__u32 i = 0; i < n; i++) {" {
		t.Errorf("the dearest line is %q", dearest.Text)
	}
}
