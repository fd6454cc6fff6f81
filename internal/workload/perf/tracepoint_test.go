package perf

import (
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/testenv"
)

// A program runs from Attach until Close, however long the kernel takes to let it go, and
// as often as it is attached.
func TestTracepointAttach(t *testing.T) {
	testenv.Root(t)
	stats, err := ebpf.EnableStats(unix.BPF_STATS_RUN_TIME)
	if err != nil {
		t.Fatal(err)
	}
	defer stats.Close()
	prog, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Type:         ebpf.TracePoint,
		Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, 0), asm.Return()},
		License:      "GPL",
	})
	if err != nil {
		t.Fatal(err)
	}
	defer prog.Close()
	tracepoint, err := OpenTracepoint("raw_syscalls", "sys_enter")
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		attached, err := tracepoint.Attach(prog)
		if err != nil {
			t.Fatal(err)
		}
		before := runs(t, prog)
		unix.Getppid()
		if runs(t, prog) == before {
			t.Fatal("the program does not run")
		}
		if err := attached.Close(); err != nil {
			t.Fatal(err)
		}
		before = runs(t, prog)
		unix.Getppid()
		if n := runs(t, prog) - before; n > 0 {
			t.Fatalf("the program ran %d times after it was detached", n)
		}
	}
	if err := tracepoint.Close(); err != nil {
		t.Fatal(err)
	}
}
