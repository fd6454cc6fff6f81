package insn

import (
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

func TestCostsByInput(t *testing.T) {
	sized := func(before ...asm.Instruction) asm.Instructions {
		return append(before, asm.FnSkbLoadBytes.Call(), asm.Return())
	}
	for name, c := range map[string]struct {
		insns asm.Instructions
		want  bool
	}{
		"nothing":              {asm.Instructions{asm.Mov.Imm(asm.R0, 0), asm.Return()}, false},
		"looks up in a map":    {asm.Instructions{asm.FnMapLookupElem.Call(), asm.Return()}, false},
		"looks up a route":     {asm.Instructions{asm.FnFibLookup.Call(), asm.Return()}, true},
		"a constant size":      {sized(asm.Mov.Imm(asm.R4, 16), asm.Mov.Imm(asm.R3, 0)), false},
		"a size from before":   {sized(asm.Mov.Reg(asm.R4, asm.R6)), true},
		"a changed constant":   {sized(asm.Mov.Imm(asm.R4, 16), asm.Add.Reg(asm.R4, asm.R6)), true},
		"a size of two paths":  {sized(asm.Mov.Imm(asm.R4, 16), asm.Mov.Imm(asm.R3, 0).WithSymbol("here")), true},
		"a constant of paths":  {sized(asm.Mov.Imm(asm.R4, 16).WithSymbol("here")), false},
		"a size behind a jump": {sized(asm.Mov.Imm(asm.R4, 16), asm.JEq.Imm(asm.R6, 0, "out")), true},
		"a kernel function":    {asm.Instructions{kfunc.WithReference("bpf_skb_ct_lookup"), asm.Return()}, true},
		"a lock":               {asm.Instructions{kfunc.WithReference("bpf_rcu_read_lock"), asm.Return()}, false},
	} {
		if got := CostsByInput(c.insns); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestHidesChanges(t *testing.T) {
	store := func(to asm.Register, at int16) asm.Instructions {
		return asm.Instructions{asm.StoreMem(to, at, asm.R2, asm.Word)}
	}
	for name, c := range map[string]struct {
		typ   ebpf.ProgramType
		insns asm.Instructions
		want  bool
	}{
		"mark":            {ebpf.SchedCLS, store(asm.R1, 8), false},
		"tc_index":        {ebpf.SchedCLS, store(asm.R6, 44), true},
		"the stack":       {ebpf.SchedCLS, store(asm.R10, 44), false},
		"a packet of xdp": {ebpf.XDP, store(asm.R6, 44), false},
		"metadata":        {ebpf.XDP, asm.Instructions{asm.FnXdpAdjustMeta.Call()}, true},
		"a lock":          {ebpf.SchedCLS, asm.Instructions{kfunc.WithReference("bpf_rcu_read_lock")}, false},
		"a connection":    {ebpf.SchedCLS, asm.Instructions{kfunc.WithReference("bpf_skb_ct_lookup")}, true},
	} {
		if got := HidesChanges(c.typ, c.insns); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
