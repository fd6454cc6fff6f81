package insn

import (
	"slices"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

// A line is reached by what stays where it was written: what the compiler moved in
// front of a branch does not tell.
func TestLineTimes(t *testing.T) {
	p := &Program{Instructions: asm.Instructions{
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

// Without lines of source there are blocks, in their order, which are told apart by
// their instructions.
func TestLinesAreBlocks(t *testing.T) {
	spec := xdp(map[string]asm.Instructions{"main": join(count("loop", 10), asm.Instructions{
		asm.Mov.Imm(asm.R1, 0), asm.FnGetPrandomU32.Call(), asm.Return(),
	})})
	table, err := Instrument(spec, Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := newCounts(table)
	copy(c.blocks[0], []uint64{1, 10, 1})
	lines := c.Lines("main")
	if len(lines) != 3 || table.HasLines() {
		t.Fatalf("%+v", lines)
	}
	for i, want := range []Line{{First: 0, Instructions: 1, Times: 1, Executed: 1}, {First: 1, Instructions: 2, Times: 10, Executed: 20}, {First: 3, Instructions: 3, Times: 1, Executed: 3, Calls: []string{"bpf_get_prandom_u32"}}} {
		if l := lines[i]; l.First != want.First || l.Instructions != want.Instructions || l.Times != want.Times || l.Executed != want.Executed || !slices.Equal(l.Calls, want.Calls) || l.Number != 0 {
			t.Errorf("block %d: %+v, want %+v", i, l, want)
		}
	}
	// Where a block was added, the others are what they were.
	joined := Join(lines[1:], lines)
	if len(joined) != 3 || joined[0].Base != nil || joined[1].Base != &lines[1] || joined[2].Base != &lines[2] {
		t.Errorf("%+v", joined)
	}
}

func TestRepeatable(t *testing.T) {
	data := func(flags uint32) *ebpf.MapSpec {
		return &ebpf.MapSpec{Name: "m", Type: ebpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: 1, Flags: flags}
	}
	jumps := &ebpf.MapSpec{Name: "m", Type: ebpf.ProgramArray, KeySize: 4, ValueSize: 4, MaxEntries: 1}
	pass := asm.Instructions{asm.Mov.Imm(asm.R0, 2), asm.Return()}
	load := asm.Instructions{asm.LoadMapValue(asm.R1, 0, 0).WithReference("m")}
	call := func(f asm.BuiltinFunc) asm.Instructions { return asm.Instructions{f.Call()} }
	for _, c := range []struct {
		name  string
		insns asm.Instructions
		m     *ebpf.MapSpec
		want  bool
	}{
		{"arithmetic", pass, nil, true},
		{"constants", join(load, pass), data(0x80), true},
		{"a map that it may write", join(load, pass), data(0), false},
		{"tail calls", join(asm.Instructions{asm.LoadMapPtr(asm.R2, 0).WithReference("m")}, call(asm.FnTailCall), pass), jumps, true},
		{"chance", join(call(asm.FnGetPrandomU32), pass), nil, false},
		{"time", join(call(asm.FnKtimeGetNs), pass), nil, false},
		{"a checksum", join(call(asm.FnCsumDiff), pass), nil, true},
	} {
		var maps []*ebpf.MapSpec
		if c.m != nil {
			maps = append(maps, c.m)
		}
		spec := xdp(map[string]asm.Instructions{"main": c.insns}, maps...)
		original := spec.Copy()
		table, err := Instrument(spec, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := table.Repeatable(original); got != c.want {
			t.Errorf("%s: %t, want %t", c.name, got, c.want)
		}
	}
}

func TestTailCalls(t *testing.T) {
	call := asm.Instructions{
		asm.LoadMapPtr(asm.R2, 0).WithReference("jumps"), asm.Mov.Imm(asm.R3, 2), asm.FnTailCall.Call(),
	}
	jumps := &ebpf.MapSpec{Name: "jumps", Type: ebpf.ProgramArray, KeySize: 4, ValueSize: 4, MaxEntries: 4}
	pass := asm.Instructions{asm.Mov.Imm(asm.R0, 2), asm.Return()}
	into := slices.Clone(pass)
	into[0] = into[0].WithSymbol("out")
	for _, c := range []struct {
		name   string
		insns  asm.Instructions
		counts []uint64
		want   []TailCall
	}{
		{"one of five", join(call, pass), []uint64{5, 1}, []TailCall{{Index: 2, Times: 5, Failed: 1, Told: true, Map: "jumps", Key: 2}}},
		{"none", join(call, pass), []uint64{5, 0}, []TailCall{{Index: 2, Times: 5, Told: true, Map: "jumps", Key: 2}}},
		{"not made", join(call, pass), []uint64{0, 0}, nil},
		{"who knows: a jump leads there too", join(asm.Instructions{asm.JEq.Imm(asm.R1, 0, "out")}, call, into), []uint64{5, 4, 5}, []TailCall{{Index: 3, Times: 4, Map: "jumps", Key: 2}}},
		{"of a key that is computed", join(asm.Instructions{call[0], asm.Mov.Reg(asm.R3, asm.R7), call[2]}, pass), []uint64{1, 1}, []TailCall{{Index: 2, Times: 1, Failed: 1, Told: true, Map: "jumps", Key: -1}}},
	} {
		table, err := Instrument(xdp(map[string]asm.Instructions{"main": c.insns}, jumps), Options{})
		if err != nil {
			t.Fatal(err)
		}
		counts := newCounts(table)
		copy(counts.blocks[0], c.counts)
		if got := counts.TailCalls("main"); !slices.Equal(got, c.want) || !table.TailCalls() {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}
