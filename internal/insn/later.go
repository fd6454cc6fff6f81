package insn

import (
	"slices"
	"strings"

	"github.com/cilium/ebpf/asm"
)

// Later is what a callback executed after the runs that asked for it: of a timer
// (Linux 5.15), a workqueue (6.10) or as work of a task (6.18).
type Later struct {
	Program, Function string
	By                string // what calls it: timer, workqueue or task
	// Asked is how often runs handed it over.
	Asked, Calls, Executed uint64
}

// Later returns what callbacks executed, in the order of the table.
func (c *Counts) Later() []Later {
	var all []Later
	for i, p := range c.table.Programs {
		at := map[int]int{} // the callback's place in all
		for f, fn := range p.Functions {
			if fn.Later != "" && fn.Callback == f {
				at[f] = len(all)
				all = append(all, Later{Program: p.Name, Function: fn.Name, By: fn.Later})
			}
		}
		for b, n := range c.blocks[i] {
			block := &p.Blocks[b]
			for f, place := range at {
				for _, call := range p.Functions[f].handed {
					if block.Start <= call && call < block.End {
						all[place].Asked += n
					}
				}
			}
			fn := &p.Functions[block.Function]
			if fn.Later == "" {
				continue
			}
			l := &all[at[fn.Callback]]
			l.Executed += n * uint64(block.End-block.Start)
			if block.Entry && block.Function == fn.Callback {
				l.Calls += n
			}
		}
	}
	return all
}

// SharedLater returns the functions that a callback shares with runs: what it executes
// of them counts as theirs.
func (t *Table) SharedLater(program, callback string) []string {
	for _, f := range t.byName[program].Functions {
		if f.Name == callback {
			return f.shares
		}
	}
	return nil
}

// LaterOf returns, for each function of a program that is not executed by its runs,
// the callback that it belongs to.
func (c *Counts) LaterOf(program string) map[string]Later {
	p, _ := c.of(program)
	all := map[string]Later{}
	for _, f := range p.Functions {
		if f.Later == "" {
			continue
		}
		for _, l := range c.Later() {
			if l.Program == program && l.Function == p.Functions[f.Callback].Name {
				all[f.Name] = l
			}
		}
	}
	return all
}

// markLater marks the functions that only callbacks reach which the kernel calls
// after the run. It knows those whose pointers are loaded in front of the call that
// takes them, which is where compilers do that. It reports whether there are any.
func (g *graph) markLater() bool {
	loads := map[int]bool{} // of pointers to callbacks
	for i := range g.insns {
		by, r := laterCallback(&g.insns[i])
		if by == "" {
			continue
		}
		if load := g.pointerIn(i, r); load != none {
			loads[load] = true
			fn := &g.functions[g.functionAt(g.targets[load])]
			fn.handed, fn.by = append(fn.handed, i), by
		}
	}
	if len(loads) == 0 {
		return false
	}
	uses := make([][]int, len(g.functions)) // the functions that each calls or points to
	for i := range g.insns {
		if g.targets[i] != none && g.insns[i].IsFunctionReference() && !loads[i] {
			f := g.functionAt(i)
			uses[f] = append(uses[f], g.functionAt(g.targets[i]))
		}
	}
	reach := func(from int, found func(f int)) {
		seen := make([]bool, len(g.functions))
		for todo := []int{from}; len(todo) > 0; {
			f := todo[len(todo)-1]
			if todo = todo[:len(todo)-1]; !seen[f] {
				seen[f] = true
				found(f)
				todo = append(todo, uses[f]...)
			}
		}
	}
	byRuns := make([]bool, len(g.functions))
	reach(0, func(f int) { byRuns[f] = true })
	any := false
	for callback := range g.functions {
		fn := &g.functions[callback]
		if len(fn.handed) == 0 || byRuns[callback] {
			continue
		}
		any = true
		reach(callback, func(f int) {
			switch shared := &g.functions[f]; {
			case byRuns[f]:
				fn.shares = append(fn.shares, shared.Name)
			case shared.Later == "" || f == callback:
				shared.Later, shared.Callback = fn.by, callback
			}
		})
	}
	return any
}

// LeavesWork reports whether instructions hand over a callback that is called after the
// run.
func LeavesWork(insns asm.Instructions) bool {
	return slices.ContainsFunc(insns, func(ins asm.Instruction) bool {
		by, _ := laterCallback(&ins)
		return by != ""
	})
}

// laterCallback returns what will call the callback that a call hands over, and the
// register that points to it.
func laterCallback(ins *asm.Instruction) (by string, in asm.Register) {
	switch name := ins.Reference(); {
	case ins.IsBuiltinCall() && asm.BuiltinFunc(ins.Constant) == asm.FnTimerSetCallback:
		return "timer", asm.R2
	case !ins.IsKfuncCall():
		return "", 0
	case strings.HasPrefix(name, "bpf_wq_set_callback"):
		return "workqueue", asm.R2
	case strings.HasPrefix(name, "bpf_task_work_schedule"):
		return "task", asm.R4
	}
	return "", 0
}

// pointerIn returns the load of the function pointer that a register holds at a
// call, or none if the instructions in front of the call do not show it.
func (g *graph) pointerIn(call int, r asm.Register) int {
	start := g.functions[g.functionAt(call)].Start
	for i := call - 1; i >= start; i-- {
		ins := &g.insns[i]
		if ins.OpCode.JumpOp() == asm.Call && r <= asm.R5 {
			return none
		}
		if class := ins.OpCode.Class(); class.IsStore() || class.IsJump() || ins.Dst != r {
			continue
		}
		switch {
		case ins.IsLoadOfFunctionPointer():
			return i
		case ins.OpCode.Class() == asm.ALU64Class && ins.OpCode.ALUOp() == asm.Mov && ins.OpCode.Source() == asm.RegSource:
			r = ins.Src
		default:
			return none
		}
	}
	return none
}
