package insn

import (
	"testing"

	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
)

func set(all ...asm.Register) registers {
	var s registers
	for _, r := range all {
		s |= only(r)
	}
	return s
}

func TestEffects(t *testing.T) {
	const r0, r1, r2, r3 = asm.R0, asm.R1, asm.R2, asm.R3
	for name, c := range map[string]struct {
		ins           asm.Instruction
		reads, writes registers
	}{
		"r1 = 1":                {asm.Mov.Imm(r1, 1), 0, set(r1)},
		"r1 = r2":               {asm.Mov.Reg(r1, r2), set(r2), set(r1)},
		"w1 = w2":               {asm.Mov.Reg32(r1, r2), set(r2), set(r1)},
		"r1 = r10":              {asm.Mov.Reg(r1, asm.R10), 0, set(r1)},
		"r1 += 1":               {asm.Add.Imm(r1, 1), set(r1), set(r1)},
		"r1 += r2":              {asm.Add.Reg(r1, r2), set(r1, r2), set(r1)},
		"r1 = -r1":              {asm.Neg.Imm(r1, 0), set(r1), set(r1)},
		"r1 = be16 r1":          {asm.HostTo(asm.BE, r1, asm.Half), set(r1), set(r1)},
		"r1 = bswap16 r1":       {asm.BSwap(r1, asm.Half), set(r1), set(r1)},
		"r1 = 1 ll":             {asm.LoadImm(r1, 1, asm.DWord), 0, set(r1)},
		"r1 = *r2":              {asm.LoadMem(r1, r2, 0, asm.Byte), set(r2), set(r1)},
		"r1 = *(s8 *)r2":        {asm.LoadMemSX(r1, r2, 0, asm.Byte), set(r2), set(r1)},
		"*r1 = 1":               {asm.StoreImm(r1, 0, 1, asm.Word), set(r1), 0},
		"*r1 = r2":              {asm.StoreMem(r1, 0, r2, asm.Word), set(r1, r2), 0},
		"*r1 += r2":             {asm.AddAtomic.Mem(r1, r2, asm.DWord, 0), set(r1, r2), 0},
		"r2 = fetch *r1 += r2":  {asm.FetchAdd.Mem(r1, r2, asm.DWord, 0), set(r1, r2), set(r2)},
		"r2 = xchg *r1, r2":     {asm.Xchg.Mem(r1, r2, asm.DWord, 0), set(r1, r2), set(r2)},
		"r0 = cmpxchg *r1, r2":  {asm.CmpXchg.Mem(r1, r2, asm.DWord, 0), set(r0, r1, r2), set(r0)},
		"r1 = load_acquire *r2": {asm.LoadAcquire(r1, r2, asm.DWord, 0), set(r2), set(r1)},
		"store_release *r1":     {asm.StoreRelease(r1, r2, asm.DWord, 0), set(r1, r2), 0},
		"if r1 == 0":            {asm.JEq.Imm(r1, 0, "x"), set(r1), 0},
		"if w1 == w2":           {asm.JEq.Reg32(r1, r2, "x"), set(r1, r2), 0},
		"goto":                  {asm.Ja.Label("x"), 0, 0},
		"gotol":                 {asm.LongJump("x"), 0, 0},
		"may_goto":              {mayGoto, 0, 0},
		"exit":                  {asm.Return(), set(r0), 0},
		"packet byte":           {asm.LoadAbs(0, asm.Byte), set(asm.R6), scratchRegisters},
		"packet byte at r1":     {asm.LoadInd(r0, r1, 0, asm.Byte), set(asm.R6, r1), scratchRegisters},
		"kfunc":                 {kfunc, argumentRegisters, scratchRegisters},
		"no arguments":          {asm.FnKtimeGetNs.Call(), 0, scratchRegisters},
		"two arguments":         {asm.FnMapLookupElem.Call(), set(r1, r2), scratchRegisters},
		"any arguments":         {asm.FnTracePrintk.Call(), argumentRegisters, scratchRegisters},
		"an unknown helper":     {asm.BuiltinFunc(9999).Call(), argumentRegisters, scratchRegisters},
		"a function":            {asm.Call.Label("f"), set(r3), scratchRegisters},
	} {
		reads, writes := effect(&c.ins, set(r3))
		if reads != c.reads || writes != c.writes {
			t.Errorf("%s reads %010b, writes %010b; want %010b, %010b", name, reads, writes, c.reads, c.writes)
		}
	}
}

func TestLiveness(t *testing.T) {
	const r0, r1, r2, r3, r6 = asm.R0, asm.R1, asm.R2, asm.R3, asm.R6
	for name, c := range map[string]struct {
		insns asm.Instructions
		in    []registers // before each block
	}{
		"a branch that reads": {
			asm.Instructions{nothing, ifZero(r1, 1), asm.Mov.Reg(r0, r2), exit},
			[]registers{set(r1, r2), set(r2), set(r0)},
		},
		"a loop keeps what it reads": {
			asm.Instructions{asm.Mov.Imm(r0, 9), asm.Add.Reg(r0, r6), ifZero(r0, -2), exit},
			[]registers{set(r6), set(r0, r6), set(r0)},
		},
		"a static function reads what its code reads": {
			asm.Instructions{asm.Call.Label("f"), exit, asm.Mov.Reg(r0, r2).WithSymbol("f"), exit},
			[]registers{set(r2), set(r2)},
		},
		"a global function reads all its arguments": {
			asm.Instructions{asm.Call.Label("f"), exit, function("f", btf.GlobalFunc, 3, nothing), exit},
			[]registers{set(r1, r2, r3), 0},
		},
		"calls of calls": {
			asm.Instructions{
				asm.Call.Label("f"), exit,
				asm.Mov.Imm(r1, 0).WithSymbol("f"), asm.Call.Label("g"), exit,
				asm.Add.Reg(r1, r3).WithSymbol("g"), asm.Mov.Reg(r0, r1), exit,
			},
			[]registers{set(r3), set(r3), set(r1, r3)},
		},
		"recursion reads whatever it may": {
			asm.Instructions{asm.Call.Label("f"), exit, asm.Call.Label("f").WithSymbol("f"), exit},
			[]registers{argumentRegisters, argumentRegisters},
		},
	} {
		l := live(graphOf(t, c.insns...))
		for b, in := range l.in {
			if in != c.in[b] {
				t.Errorf("%s: before block %d %010b is live, want %010b", name, b, in, c.in[b])
			}
		}
	}
}

func TestAssigned(t *testing.T) {
	g := graphOf(t,
		nothing, ifZero(asm.R0, 2), // to 4
		asm.Mov.Imm(asm.R6, 1), asm.Mov.Imm(asm.R2, 1),
		asm.Mov.Imm(asm.R7, 1), asm.FnKtimeGetNs.Call(), exit,
	)
	a := assignments{}
	if got, want := a.before(g, 2, 4), set(asm.R0, asm.R1); got != want {
		t.Errorf("where two ways meet %010b hold values, want %010b", got, want)
	}
	if got, want := a.before(g, 2, 6), set(asm.R7); got != want {
		t.Errorf("after a call %010b hold values, want %010b", got, want)
	}
}
