package insn

import (
	"slices"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

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

func TestDiverge(t *testing.T) {
	table := tableOf(t, asm.Instructions{
		asm.FnMapLookupElem.Call(), asm.FnKtimeGetNs.Call(), ifZero(asm.R0, 1), nothing, exit,
	})
	same := countsOf(table, 3, 1, 3)
	if d := Diverge(same, same, same); d != nil {
		t.Errorf("runs that are the same diverge: %+v", d)
	}
	d := Diverge(same, countsOf(table, 3, 2, 3), same)
	if len(d) != 1 || d[0].Start != 3 || !slices.Equal(d[0].Counts, []uint64{1, 2, 1}) || !slices.Equal(d[0].Helpers, []string{"bpf_ktime_get_ns"}) {
		t.Errorf("divergence is %+v", d)
	}
}

// The clock decides how often a loop with may_goto iterates, whatever maps the
// program has.
func TestDivergeByMayGoto(t *testing.T) {
	table := tableOf(t, asm.Instructions{asm.FnMapLookupElem.Call(), mayGoto, nothing, exit})
	d := Diverge(countsOf(table, 3, 1, 3), countsOf(table, 3, 2, 3))
	if len(d) == 0 || !slices.Equal(d[0].Helpers, []string{mayGotoTime}) {
		t.Errorf("divergence is %+v", d)
	}
}
