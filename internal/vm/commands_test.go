package vm

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/vm/guest"
)

// guestCommands are the commands that the tests run in a guest.
var guestCommands = map[string]func(args []string, results io.Writer){
	"hello":   greet,
	"look":    look,
	"measure": measure,
	"blob":    func(_ []string, results io.Writer) { reportAll(results, strings.Repeat("x", 1<<20)) },
	"garbage": func(_ []string, results io.Writer) { fmt.Fprintln(results, "not JSON") },
	"fail":    func([]string, io.Writer) { os.Exit(3) },
	"crash":   func([]string, io.Writer) { check(unix.Kill(os.Getpid(), unix.SIGKILL)) },
	"orphan":  orphan,
	"panic":   func([]string, io.Writer) { check(os.WriteFile("/proc/sysrq-trigger", []byte("c"), 0)) },
	"exhaust": exhaust,
	"lock_up": lockUp,
	"sleep":   sleep,
	"doze":    doze,
}

func greet(args []string, results io.Writer) {
	fmt.Println("hello", strings.Join(args, " "))
	fmt.Fprintln(os.Stderr, "not an error")
	reportAll(results, 1, "two", map[string]int{"three": 3})
}

// look reports what the command sees in the guest.
func look(_ []string, results io.Writer) {
	dir, err := os.Getwd()
	check(err)
	file, err := os.ReadFile("file")
	check(err)
	modules, err := os.ReadFile("/proc/modules")
	check(err)
	var mounted []string
	for _, m := range guest.Mounts {
		var fs unix.Statfs_t
		if unix.Statfs(m.Dir, &fs) == nil && fs.Type != unix.RAMFS_MAGIC && fs.Type != unix.SYSFS_MAGIC || m.Dir == "/sys" {
			mounted = append(mounted, m.Dir)
		}
	}
	reportAll(results, found{dir, string(file), os.Environ(), string(modules), mounted})
}

type found struct {
	Dir, File string
	Env       []string
	Modules   string
	Mounted   []string
}

// orphan leaves a process behind that holds the output and the results open.
func orphan(_ []string, results io.Writer) {
	cmd := exec.Command("/init", "sleep")
	cmd.Env = []string{guest.ResultsEnv + "=1"}
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{results.(*os.File)}
	check(cmd.Start())
}

// sleep reports one result, and never ends.
func sleep(_ []string, results io.Writer) {
	reportAll(results, "before")
	for {
		time.Sleep(time.Hour)
	}
}

// doze sleeps often and computes a little in between, like a program that waits
// for others, and reports when that was.
func doze(_ []string, results io.Writer) {
	began := time.Now()
	for range dozes {
		for range 100 {
			short := unix.Timespec{Nsec: 30_000}
			check(unix.Nanosleep(&short, nil))
			for range 20 {
				unix.Getpgid(0)
			}
		}
		reportAll(results, time.Since(began))
	}
}

const dozes = 20

func reportAll(results io.Writer, values ...any) {
	encoder := json.NewEncoder(results)
	for _, v := range values {
		check(encoder.Encode(v))
	}
}

// exhaust uses memory until there is none.
func exhaust([]string, io.Writer) {
	type block struct {
		next *block
		data [1 << 20]byte
	}
	var all *block
	for {
		all = &block{next: all}
		for i := range all.data {
			all.data[i] = 1
		}
	}
}

// lockUp runs a program that takes centuries. Meanwhile, the kernel does
// nothing else on its only processor except serve interrupts.
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
	check(err)
	return prog
}
