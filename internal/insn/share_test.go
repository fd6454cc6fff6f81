package insn

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/internal/insn/bytecode"
)

// loads counts what all counters load: addresses, and ones.
func loads(t *testing.T, insns asm.Instructions) (addresses, ones int) {
	t.Helper()
	spec := xdp(map[string]asm.Instructions{"main": insns})
	if _, err := Instrument(spec, Options{Placement: EveryBlock}); err != nil {
		t.Fatal(err)
	}
	for _, ins := range spec.Programs["main"].Instructions {
		addresses += truth(ins.Reference() == MapName)
		ones += truth(ins.OpCode == asm.Mov.Op(asm.ImmSource) && ins.Constant == 1)
	}
	return addresses, ones
}

func truth(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func TestCountersShareRegisters(t *testing.T) {
	call := asm.FnKtimeGetNs.Call()
	var kept, read asm.Instructions // all registers that calls keep
	for r := asm.R6; r <= asm.R9; r++ {
		kept = append(kept, asm.Mov.Imm(r, 7))
		read = append(read, asm.Add.Reg(asm.R0, r))
	}
	for name, c := range map[string]struct {
		insns           asm.Instructions
		addresses, ones int
	}{
		"one block":                     {asm.Instructions{nothing, exit}, 1, 1},
		"branches":                      {asm.Instructions{nothing, ifZero(asm.R0, 1), nothing, ifZero(asm.R0, 1), nothing, exit}, 1, 1},
		"a loop":                        {asm.Instructions{nothing, nothing, ifZero(asm.R0, -2), exit}, 1, 1},
		"calls keep R6 to R9":           {asm.Instructions{call, ifZero(asm.R0, 1), call, ifZero(asm.R0, 1), call, exit}, 1, 1},
		"calls clobber R0 to R5":        {join(kept, asm.Instructions{call, ifZero(asm.R0, 0), call, ifZero(asm.R0, 0)}, read, asm.Instructions{exit}), 3, 3},
		"where one way leads by a call": {join(kept, asm.Instructions{nothing, ifZero(asm.R0, 2), call, nothing, ifZero(asm.R0, 0)}, read, asm.Instructions{exit}), 2, 2},
		"each function for itself":      {asm.Instructions{asm.Call.Label("f"), ifZero(asm.R0, 0), exit, nothing.WithSymbol("f"), ifZero(asm.R0, 0), exit}, 2, 2},
	} {
		if addresses, ones := loads(t, c.insns); addresses != c.addresses || ones != c.ones {
			t.Errorf("%s: %d addresses and %d ones are loaded, want %d and %d", name, addresses, ones, c.addresses, c.ones)
		}
	}
}

// A register that a block writes is not left over, with or without a counter,
// wherever the write is.
func TestWhatABlockWritesIsNotLeft(t *testing.T) {
	g := graphOf(t, ifZero(asm.R0, 0), asm.Mov.Imm(asm.R4, 7), asm.Mov.Imm(asm.R5, 7), ifZero(asm.R0, 0), exit)
	busy := allRegisters &^ set(asm.R4, asm.R5)
	for _, index := range []int{1, 3} {
		places := []site{{0, busy}, {index, busy}, {4, busy}}
		for _, inBetween := range []bool{true, false} {
			chosen := share(live(g), places, []bool{true, inBetween, true}, []float64{1, 1, 1}, nil)
			for use := range uses {
				last := chosen[2][use]
				if want := inBetween && index == 3; last.left != want {
					t.Errorf("counter in between: %v, at %d: the last counter finds use %d: %v, want %v", inBetween, index, use, last.left, want)
				}
			}
		}
	}
}

// One address does not reach the counters of a function with very many.
func TestCountersOutOfReach(t *testing.T) {
	insns := asm.Instructions{nothing}
	for range maxShared + 10 {
		insns = append(insns, ifZero(asm.R0, 0))
	}
	walks(t, append(insns, exit), rand.New(rand.NewPCG(1, 1)))
}

// The counters count any program, and it finds its registers as it left them.
func TestCountersOfAnyProgram(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		walks(t, anyProgram(r), r)
	}
}

// anyProgram returns a program that uses registers and calls at random. Its
// jumps back are conditional, so that a walk can end.
func anyProgram(r *rand.Rand) asm.Instructions {
	var insns asm.Instructions
	for reg := asm.R0; reg <= asm.R9; reg++ {
		insns = append(insns, asm.Mov.Imm(reg, 7))
	}
	used := 3 + r.IntN(8)
	register := func() asm.Register { return asm.Register(r.IntN(used)) }
	start, n := len(insns), 5+r.IntN(60)
	for i := range n {
		switch r.IntN(8) {
		case 0, 1:
			insns = append(insns, asm.Mov.Imm(register(), 7))
		case 2, 3:
			insns = append(insns, asm.Add.Reg(register(), register()))
		case 4:
			insns = append(insns, asm.FnKtimeGetNs.Call())
		case 5:
			insns = append(insns, asm.Instruction{OpCode: asm.Ja.Op(asm.ImmSource), Offset: int16(r.IntN(n - i))})
		default:
			insns = append(insns, ifZero(register(), int16(start+r.IntN(n)-len(insns)-1)))
		}
	}
	for reg := range asm.Register(4 + r.IntN(6)) {
		insns = append(insns, asm.Add.Reg(asm.R0, reg)) // so it is live throughout
	}
	return append(insns, exit)
}

// walks instruments a program both ways and walks through each at random.
func walks(t *testing.T, insns asm.Instructions, r *rand.Rand) {
	t.Helper()
	for _, placement := range []Placement{Minimal, EveryBlock} {
		spec := xdp(map[string]asm.Instructions{"main": insns})
		table, err := Instrument(spec, Options{Placement: placement})
		if errors.Is(err, ErrStack) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		w := walker{insns: spec.Programs["main"].Instructions, raw: make([]uint64, table.counters), r: r}
		if err := w.walk(); err != nil {
			t.Fatalf("%v\n%v", err, w.insns)
		}
		counts := newCounts(table)
		table.Programs[0].resolve(w.raw, counts.blocks[0])
		if got := counts.Executed("main"); got != w.executed {
			t.Fatalf("%d instructions were counted, and %d executed:\n%v", got, w.executed, w.insns)
		}
	}
}

// walker tracks the contents of registers through a program with counters. It
// recognizes the counters' instructions by what the program lacks: constants of
// 1, stack, atomic operations.
type walker struct {
	insns    asm.Instructions
	raw      []uint64
	executed uint64 // instructions of the program
	r        *rand.Rand
}

// value is the content of a register: a value of the program's, an address or
// 1.
type value struct {
	ours    bool
	address int // in bytes, or noAddress
}

const noAddress = -1

func (w *walker) walk() error {
	offsets, at := bytecode.Layout(w.insns)
	var regs [asm.R10 + 1]value
	stack := map[int16]value{}
	steps := 0
	for i := 0; ; i++ {
		ins := &w.insns[i]
		switch {
		case ins.Reference() == MapName:
			regs[ins.Dst] = value{true, int(uint64(ins.Constant) >> 32)}
			continue
		case ins.OpCode == asm.Mov.Op(asm.ImmSource) && ins.Constant == 1:
			regs[ins.Dst] = value{true, noAddress}
			continue
		case ins.OpCode.Mode() == asm.AtomicMode && ins.OpCode.Class() == asm.StXClass:
			address, one := regs[ins.Dst], regs[ins.Src]
			if !address.ours || address.address == noAddress || one != (value{true, noAddress}) {
				return fmt.Errorf("instruction %d adds %+v to what is at %+v", i, one, address)
			}
			w.raw[(address.address+int(ins.Offset))/counterSize]++
			continue
		case ins.OpCode.Class() == asm.StXClass:
			stack[ins.Offset] = regs[ins.Src]
			continue
		case ins.OpCode.Class() == asm.LdXClass:
			regs[ins.Dst] = stack[ins.Offset]
			continue
		}
		w.executed++
		reads, writes := effect(ins, 0)
		for reg := range regs {
			if reads.has(asm.Register(reg)) && regs[reg].ours {
				return fmt.Errorf("instruction %d reads R%d, which a counter wrote", i, reg)
			}
			if writes.has(asm.Register(reg)) {
				regs[reg] = value{}
			}
		}
		steps++
		switch {
		case ins.OpCode.JumpOp() == asm.Exit:
			return nil
		case bytecode.IsJump(ins) && (ins.OpCode.JumpOp() == asm.Ja || w.r.IntN(2) == 0 && (steps < 500 || ins.Offset >= 0)):
			i = at[offsets[i]+1+int(ins.Offset)] - 1
		}
	}
}
