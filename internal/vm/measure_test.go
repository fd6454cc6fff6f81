package vm

import (
	"fmt"
	"io"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"
)

// measured is the guest's report about a program: all rounds, including those
// that an interrupt fell into.
type measured struct {
	Name    string
	Runs    []uint64
	Runtime []time.Duration
	Wall    []time.Duration
}

const measureRounds = 20

// measure drives programs by test_run and by system calls, and reports what the
// kernel has counted.
func measure(_ []string, results io.Writer) {
	stats, err := ebpf.EnableStats(uint32(unix.BPF_STATS_RUN_TIME))
	check(err)
	defer stats.Close()

	for _, alu := range []int{0, 1, 100} {
		prog := load("alu", addition(alu))
		reportAll(results, rounds(prog, fmt.Sprintf("test_run/%d", alu), func() {
			_, err := prog.Run(&ebpf.RunOptions{Data: make([]byte, 64), Repeat: 100})
			check(err)
		}))
	}
	prog, err := ebpf.NewProgram(&ebpf.ProgramSpec{Name: "hook", Type: ebpf.RawTracepoint, License: "GPL", Instructions: addition(10)})
	check(err)
	hook, err := link.AttachRawTracepoint(link.RawTracepointOptions{Name: "sys_enter", Program: prog})
	check(err)
	defer hook.Close()
	reportAll(results, rounds(prog, "sys_enter", func() {
		for range 100 {
			unix.Getpgid(0)
		}
	}))
}

func rounds(prog *ebpf.Program, name string, drive func()) measured {
	m := measured{Name: name}
	before, err := prog.Stats()
	check(err)
	for range measureRounds {
		start := time.Now()
		drive()
		m.Wall = append(m.Wall, time.Since(start))
		after, err := prog.Stats()
		check(err)
		m.Runs = append(m.Runs, after.RunCount-before.RunCount)
		m.Runtime = append(m.Runtime, after.Runtime-before.Runtime)
		before = after
	}
	return m
}

// addition returns a program of n instructions, besides those that every one
// has.
func addition(n int) asm.Instructions {
	insns := asm.Instructions{asm.Mov.Imm(asm.R0, 0)}
	for range n {
		insns = append(insns, asm.Add.Imm(asm.R0, 1))
	}
	return append(insns, asm.Return())
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
