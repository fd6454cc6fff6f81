package insntest_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
)

// regs is a set of registers.
type regs uint16

func set(list ...asm.Register) (s regs) {
	for _, r := range list {
		s |= 1 << r
	}
	return s
}

func (s regs) has(r asm.Register) bool { return s&(1<<r) != 0 }

// R6 holds the context everywhere, the others hold numbers.
var (
	numbers   = set(asm.R0, asm.R1, asm.R2, asm.R3, asm.R4, asm.R5, asm.R7, asm.R8, asm.R9)
	clobbered = set(asm.R0, asm.R1, asm.R2, asm.R3, asm.R4, asm.R5)
)

const (
	arrayMap, percpuMap, hashMap, globalsMap, tailsMap = "numbers", "own", "table", ".bss", "tails"
	arrayEntries, valueSize                            = 5, 32
)

// level is what a kernel supports.
type level int

const (
	oldest   level = iota // Linux 5.10
	linux517              // atomic operations that fetch, bpf_loop
	linux69               // the fourth version of the instruction set, may_goto
)

// generator writes programs. The verifier accepts most of them.
type generator struct {
	*rand.Rand
	typ    ebpf.ProgramType
	level  level
	out    asm.Instructions
	labels int
	next   string // label of the next instruction

	defined regs // hold a number
	locked  regs // must keep theirs
	slots   int  // of 8 bytes on the stack, all written at the start
	calls   []string
	backs   []string // functions to call back
	tails   bool
	loops   int      // nesting
	budget  int      // statements that may follow
	inside  bool     // of several functions
	isBack  bool     // a pointer to the stack is in place of the context
	exits   []string // of the loops around
	exitSet []*regs  // what is defined there
}

// generate makes a collection with a program main, from a seed alone.
func generate(seed uint64, size int, level level) *ebpf.CollectionSpec {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 7)), level: level}
	g.typ = []ebpf.ProgramType{ebpf.XDP, ebpf.SchedCLS}[g.IntN(2)]
	spec := &ebpf.CollectionSpec{
		Maps: map[string]*ebpf.MapSpec{
			arrayMap:   {Name: arrayMap, Type: ebpf.Array, KeySize: 4, ValueSize: valueSize, MaxEntries: arrayEntries},
			percpuMap:  {Name: percpuMap, Type: ebpf.PerCPUArray, KeySize: 4, ValueSize: valueSize, MaxEntries: arrayEntries},
			hashMap:    {Name: hashMap, Type: ebpf.Hash, KeySize: 8, ValueSize: valueSize, MaxEntries: 3},
			globalsMap: {Name: globalsMap, Type: ebpf.Array, KeySize: 4, ValueSize: 64, MaxEntries: 1},
		},
		Programs: map[string]*ebpf.ProgramSpec{},
	}
	g.tails = g.IntN(4) == 0
	add := func(name string, insns asm.Instructions) {
		spec.Programs[name] = &ebpf.ProgramSpec{Name: name, Type: g.typ, License: "GPL", Instructions: insns}
	}
	add("main", g.program(size))
	if g.tails {
		spec.Maps[tailsMap] = &ebpf.MapSpec{Name: tailsMap, Type: ebpf.ProgramArray, KeySize: 4, ValueSize: 4, MaxEntries: 3,
			Contents: []ebpf.MapKV{{Key: uint32(0), Value: "one"}, {Key: uint32(1), Value: "two"}}}
		add("one", g.program(size/2))
		add("two", g.program(size/2))
	}
	return spec
}

// program writes functions, callees last, and concatenates them.
func (g *generator) program(size int) asm.Instructions {
	functions, backs := g.IntN(4), 0
	if g.IntN(3) == 0 && g.level >= linux517 {
		backs = 1
	}
	withInfo := backs > 0 || g.IntN(2) == 0
	var bodies []asm.Instructions
	for i := range 1 + functions + backs {
		g.calls, g.backs = nil, nil
		name, isBack := fmt.Sprintf("f%d", i), i > functions
		for j := i + 1; j <= functions; j++ {
			g.calls = append(g.calls, fmt.Sprintf("f%d", j))
		}
		if !isBack && backs > 0 {
			g.backs = []string{fmt.Sprintf("f%d", functions+1)}
		}
		g.inside = functions+backs > 0
		body := g.function(name, i == 0, isBack, max(2, size/(1+functions)))
		if withInfo {
			body[0] = btf.WithFuncMetadata(body[0], funcInfo(name, i == 0, isBack))
		}
		bodies = append(bodies, body)
	}
	return reached(bodies)
}

// reached concatenates the functions that something calls.
func reached(bodies []asm.Instructions) (all asm.Instructions) {
	needed := map[string]bool{bodies[0][0].Symbol(): true}
	for _, body := range bodies {
		if !needed[body[0].Symbol()] {
			continue
		}
		for i := range body {
			if body[i].IsFunctionReference() {
				needed[body[i].Reference()] = true
			}
		}
		all = append(all, body...)
	}
	return all
}

// funcInfo describes a function, as a callback requires.
func funcInfo(name string, isMain, isBack bool) *btf.Func {
	long := &btf.Int{Name: "long", Size: 8, Encoding: btf.Signed}
	proto := &btf.FuncProto{Return: &btf.Int{Name: "int", Size: 4, Encoding: btf.Signed}}
	params := 5
	switch {
	case isMain:
		params = 1
	case isBack:
		params, proto.Return = 2, long
	}
	for i := range params {
		proto.Params = append(proto.Params, btf.FuncParam{Name: fmt.Sprintf("p%d", i), Type: long})
	}
	return &btf.Func{Name: name, Type: proto, Linkage: btf.StaticFunc}
}

func (g *generator) function(name string, isMain, isBack bool, size int) asm.Instructions {
	g.out, g.next, g.locked, g.loops, g.exits, g.exitSet = nil, name, 0, 0, nil, nil
	g.isBack = isBack
	g.slots = 1 + g.IntN(6)
	if isMain {
		g.slots = 1 + g.IntN(18)
	}
	g.budget = 1 + g.IntN(size)
	switch {
	case isBack:
		// It gets an index, and a pointer to the stack of its caller.
		g.emit(asm.Mov.Reg(asm.R6, asm.R2))
		g.defined = set(asm.R1)
	case isMain:
		g.emit(asm.Mov.Reg(asm.R6, asm.R1))
		g.defined = 0
	default:
		g.emit(asm.Mov.Reg(asm.R6, asm.R1))
		g.defined = set(asm.R2, asm.R3, asm.R4, asm.R5)
	}
	for i := range g.slots {
		g.emit(storeImm(asm.R10, int16(-8*(i+1)), int64(g.IntN(1000)), asm.DWord))
	}
	for _, r := range []asm.Register{asm.R7, asm.R8, asm.R9} {
		if g.IntN(4) > 0 {
			g.number(r)
		}
	}
	for g.budget > 0 {
		g.statement()
	}
	g.leave(isBack)
	return g.out
}
