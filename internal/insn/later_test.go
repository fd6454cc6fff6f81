package insn

import (
	"slices"
	"testing"

	"github.com/cilium/ebpf/asm"
)

// What a callback executes that is called after the run is not part of the run,
// wherever the pointer to it comes from.
func TestLater(t *testing.T) {
	function := func(name string, insns ...asm.Instruction) asm.Instructions {
		insns = append(insns, asm.Mov.Imm(asm.R0, 0), asm.Return())
		insns[0] = insns[0].WithSymbol(name)
		return insns
	}
	pointer := func(r asm.Register, to string) asm.Instruction {
		return asm.Instruction{OpCode: asm.LoadImmOp(asm.DWord), Dst: r, Src: asm.PseudoFunc, Constant: -1}.WithReference(to)
	}
	call := func(to string) asm.Instruction {
		return asm.Instruction{OpCode: asm.OpCode(asm.JumpClass).SetJumpOp(asm.Call), Src: asm.PseudoCall, Constant: -1}.WithReference(to)
	}
	kfunc := func(name string) asm.Instruction {
		return asm.Instruction{OpCode: asm.OpCode(asm.JumpClass).SetJumpOp(asm.Call), Src: asm.PseudoKfuncCall, Constant: -1}.WithReference(name)
	}
	timer := asm.FnTimerSetCallback.Call()
	helper, tick := function("helper"), function("tick", call("helper"))
	for _, c := range []struct {
		name   string
		insns  asm.Instructions
		want   []string // callbacks, and what calls them
		later  []string // functions that no run executes
		shared []string // by the first callback
	}{
		{"none", join(function("main", call("tick")), tick, helper), nil, nil, nil},
		{"a timer", join(function("main", pointer(asm.R2, "tick"), timer), tick, helper), []string{"tick by timer"}, []string{"tick", "helper"}, nil},
		{"by way of a register", join(function("main", pointer(asm.R7, "tick"), asm.FnKtimeGetNs.Call(), asm.Mov.Reg(asm.R2, asm.R7), timer), tick, helper), []string{"tick by timer"}, []string{"tick", "helper"}, nil},
		{"lost in a call", join(function("main", pointer(asm.R2, "tick"), asm.FnKtimeGetNs.Call(), timer), tick, helper), nil, nil, nil},
		{"a computed pointer", join(function("main", pointer(asm.R2, "tick"), asm.Add.Imm(asm.R2, 0), timer), tick, helper), nil, nil, nil},
		{"a loop's", join(function("main", pointer(asm.R2, "tick"), asm.FnLoop.Call()), tick, helper), nil, nil, nil},
		{"a workqueue", join(function("main", pointer(asm.R2, "helper"), kfunc("bpf_wq_set_callback_impl")), helper), []string{"helper by workqueue"}, []string{"helper"}, nil},
		{"work of a task", join(function("main", pointer(asm.R4, "helper"), kfunc("bpf_task_work_schedule_signal_impl")), helper), []string{"helper by task"}, []string{"helper"}, nil},
		{"another kfunc", join(function("main", pointer(asm.R2, "helper"), kfunc("bpf_rbtree_add_impl")), helper), nil, nil, nil},
		{"called by runs, too", join(function("main", pointer(asm.R2, "tick"), timer, call("tick")), tick, helper), nil, nil, nil},
		{"with a helper of runs", join(function("main", pointer(asm.R2, "tick"), timer, call("helper")), tick, helper), []string{"tick by timer"}, []string{"tick"}, []string{"helper"}},
		{"that starts itself again", join(function("main", pointer(asm.R2, "again"), timer), function("again", pointer(asm.R2, "again"), timer)), []string{"again by timer"}, []string{"again"}, nil},
		{"that starts another", join(function("main", pointer(asm.R2, "first"), timer), function("first", pointer(asm.R2, "tick"), timer), tick, helper), []string{"first by timer", "tick by timer"}, []string{"first", "tick", "helper"}, nil},
	} {
		table, err := Instrument(xdp(map[string]asm.Instructions{"main": c.insns}), Options{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		counts := newCounts(table)
		p := table.Program("main")
		var want uint64 // the instructions of functions that runs execute
		for b := range p.Blocks {
			counts.blocks[0][b] = 1
			if block := &p.Blocks[b]; !slices.Contains(c.later, p.Functions[block.Function].Name) {
				want += uint64(block.End - block.Start)
			}
		}
		var got []string
		for _, l := range counts.Later() {
			got = append(got, l.Function+" by "+l.By)
			if l.Asked == 0 || l.Calls != 1 || l.Executed == 0 {
				t.Errorf("%s: %+v", c.name, l)
			}
		}
		var later []string
		for _, f := range p.Functions {
			if f.Later != "" {
				later = append(later, f.Name)
			}
		}
		if !slices.Equal(got, c.want) || !slices.Equal(later, c.later) || counts.Total() != want {
			t.Errorf("%s: %q, %q later, %d instructions of runs, want %q, %q and %d", c.name, got, later, counts.Total(), c.want, c.later, want)
		}
		if len(c.want) > 0 {
			if shared := table.SharedLater("main", p.Functions[1].Name); !slices.Equal(shared, c.shared) {
				t.Errorf("%s: shares %q, want %q", c.name, shared, c.shared)
			}
		}
	}
}
