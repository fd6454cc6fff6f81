package vm

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
)

// guestCommands are what the tests run in a guest.
var guestCommands = map[string]func(args []string, results io.Writer){
	"hello": func(args []string, results io.Writer) {
		fmt.Print("hello ", strings.Join(args, " "), "\n")
		fmt.Fprint(os.Stderr, "not an error\n")
		reportAll(results, 1, 2, 3)
	},
	"sleep": func(_ []string, results io.Writer) {
		reportAll(results, "before")
		for {
			time.Sleep(time.Hour)
		}
	},
	"measure": measure,
	"oom":     exhaust,
	"hang":    lockUp,
	"fail":    func([]string, io.Writer) { os.Exit(3) },
	"sysrq": func(args []string, _ io.Writer) {
		os.WriteFile("/proc/sysrq-trigger", []byte(args[0]), 0)
		time.Sleep(time.Hour)
	},
}

func reportAll(results io.Writer, values ...any) {
	encoder := json.NewEncoder(results)
	for _, v := range values {
		if err := encoder.Encode(v); err != nil {
			panic(err)
		}
	}
}

// exhaust uses memory until there is none.
func exhaust([]string, io.Writer) {
	var all [][]byte
	for {
		page := make([]byte, 1<<20)
		for i := range page {
			page[i] = 1
		}
		all = append(all, page)
	}
}

// lockUp runs a program that takes centuries. The kernel does nothing else on
// its only processor in the meantime, but to serve interrupts.
func lockUp([]string, io.Writer) {
	callback := &btf.FuncProto{
		Return: &btf.Int{Name: "long", Size: 8, Encoding: btf.Signed},
		Params: []btf.FuncParam{
			{Name: "index", Type: &btf.Int{Name: "unsigned int", Size: 4}},
			{Name: "ctx", Type: &btf.Pointer{Target: &btf.Void{}}},
		},
	}
	function := func(name string, insns asm.Instructions) asm.Instructions {
		insns[0] = btf.WithFuncMetadata(insns[0].WithSymbol(name), &btf.Func{Name: name, Type: callback})
		return append(insns, asm.Mov.Imm(asm.R0, 0), asm.Return())
	}
	loop := func(callback string) asm.Instructions {
		return asm.Instructions{
			asm.Mov.Imm(asm.R1, 1<<23),
			asm.Instruction{OpCode: asm.LoadImmOp(asm.DWord), Dst: asm.R2, Src: asm.PseudoFunc, Constant: -1}.WithReference(callback),
			asm.Mov.Imm(asm.R3, 0),
			asm.Mov.Imm(asm.R4, 0),
			asm.FnLoop.Call(),
		}
	}
	prog := load("lock_up", slices.Concat(
		function("lock_up", loop("outer")),
		function("outer", loop("inner")),
		function("inner", asm.Instructions{asm.Mov.Imm(asm.R0, 0)}),
	))
	prog.Run(&ebpf.RunOptions{Data: make([]byte, 64)})
}

func load(name string, insns asm.Instructions) *ebpf.Program {
	prog, err := ebpf.NewProgram(&ebpf.ProgramSpec{Name: name, Type: ebpf.SocketFilter, License: "GPL", Instructions: insns})
	if err != nil {
		panic(err)
	}
	return prog
}
