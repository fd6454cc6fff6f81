package insn

import (
	"slices"

	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/internal/insn/bytecode"
)

// flow describes how control leaves an instruction.
type flow struct {
	splits bool // a block ends here
	falls  bool // the next instruction may be executed
	leaves bool // the function may end here
}

// graph is the control flow of a program.
type graph struct {
	insns     asm.Instructions
	targets   []int
	functions []Function
	blocks    []Block
	// begin is the first block of each function, and the end of the last one.
	begin []int
	// Blocks that may follow block b are successors[first[b]:first[b+1]].
	successors []int
	first      []int
	// leaves says for each block whether its function may end with it.
	leaves []bool
	// mayThrow says that the program calls kfuncs, which may include
	// bpf_throw. It ends all functions that are being executed.
	mayThrow bool
}

// newGraph splits a program into blocks. A block starts at each function, at
// each target of a jump and after each instruction that may continue elsewhere.
func newGraph(program string, insns asm.Instructions, targets []int) *graph {
	g := &graph{insns: insns, targets: targets, functions: functions(program, insns, targets)}
	for i := range insns {
		if insns[i].IsKfuncCall() {
			g.mayThrow = true
			break
		}
	}

	starts := make([]bool, len(insns)+1)
	for i := range insns {
		if bytecode.IsJump(&insns[i]) {
			starts[targets[i]] = true
		}
		if g.flow(i).splits {
			starts[i+1] = true
		}
	}
	at := make([]int, len(insns)) // the block that starts with an instruction
	blocks := 2 * len(g.functions)
	for _, start := range starts {
		if start {
			blocks++
		}
	}
	g.blocks = make([]Block, 0, blocks)
	g.successors = make([]int, 0, 2*blocks)
	for f := range g.functions {
		g.begin = append(g.begin, len(g.blocks))
		g.split(f, starts, at)
	}
	g.begin = append(g.begin, len(g.blocks))

	g.first = make([]int, len(g.blocks)+1)
	g.leaves = make([]bool, len(g.blocks))
	for b := range g.blocks {
		g.link(b, at)
		g.first[b+1] = len(g.successors)
	}
	return g
}

// split makes the blocks of a function.
func (g *graph) split(f int, starts []bool, at []int) {
	fn := g.functions[f]
	entry := Block{Function: f, Start: fn.Start, End: fn.Start, Entry: true, Counter: Derived}
	if starts[fn.Start] && g.jumpsTo(fn) {
		// The function may be entered less often than its first instruction is
		// executed, so the entry is a block of its own, without an instruction.
		g.blocks = append(g.blocks, entry)
		entry.Entry = false
	}
	b := entry
	for i := fn.Start; i < fn.End; i++ {
		if i > b.Start && starts[i] {
			b.End = i
			at[b.Start] = len(g.blocks)
			g.blocks = append(g.blocks, b)
			b = Block{Function: f, Start: i, Counter: Derived}
		}
	}
	b.End = fn.End
	at[b.Start] = len(g.blocks)
	g.blocks = append(g.blocks, b)
}

// jumpsTo reports whether a jump leads to the start of its own function.
func (g *graph) jumpsTo(fn Function) bool {
	for i := fn.Start; i < fn.End; i++ {
		if bytecode.IsJump(&g.insns[i]) && g.targets[i] == fn.Start {
			return true
		}
	}
	return false
}

// link notes which blocks may follow a block. A jump out of the function counts
// as leaving it: the kernel refuses a program that takes it.
func (g *graph) link(b int, at []int) {
	block := &g.blocks[b]
	if block.Start == block.End {
		g.successors = append(g.successors, b+1)
		return
	}
	fn := g.functions[block.Function]
	last := block.End - 1
	how := g.flow(last)
	g.leaves[b] = how.leaves
	follow := func(i int) {
		if i < fn.Start || i >= fn.End {
			g.leaves[b] = true
			return
		}
		g.successors = append(g.successors, at[i])
	}
	if how.falls {
		follow(block.End)
	}
	if bytecode.IsJump(&g.insns[last]) {
		follow(g.targets[last])
	}
}

// after returns the blocks that may follow a block.
func (g *graph) after(b int) []int { return g.successors[g.first[b]:g.first[b+1]] }

// functionAt returns the function that contains an instruction.
func (g *graph) functionAt(i int) int {
	f, starts := slices.BinarySearchFunc(g.functions, i, func(fn Function, i int) int { return fn.Start - i })
	if !starts {
		f--
	}
	return f
}

// flow returns how control leaves an instruction.
func (g *graph) flow(i int) flow {
	ins := &g.insns[i]
	op := ins.OpCode
	switch op.JumpOp() {
	case asm.InvalidJumpOp:
		// Packet access of classic BPF ends the program beyond the end of the
		// packet.
		if op.Class() == asm.LdClass && (op.Mode() == asm.AbsMode || op.Mode() == asm.IndMode) {
			return flow{splits: true, falls: true, leaves: true}
		}
		return flow{falls: true}
	case asm.Exit:
		return flow{splits: true, leaves: true}
	case asm.Ja:
		return flow{splits: true}
	case asm.Call:
		if g.mayNotReturn(ins) {
			return flow{splits: true, falls: true, leaves: true}
		}
		return flow{falls: true}
	default:
		return flow{splits: true, falls: true}
	}
}

// mayNotReturn reports whether a function may end in a call: in a tail call, or
// in one that may throw an exception (Linux 6.7).
func (g *graph) mayNotReturn(ins *asm.Instruction) bool {
	switch {
	case ins.IsKfuncCall():
		return true
	case ins.IsFunctionCall():
		return g.mayThrow
	case !ins.IsBuiltinCall():
		return false
	}
	switch asm.BuiltinFunc(ins.Constant) {
	case asm.FnTailCall:
		return true
	case asm.FnForEachMapElem, asm.FnLoop, asm.FnFindVma, asm.FnUserRingbufDrain:
		return g.mayThrow // in the function that it calls back
	}
	return false
}
