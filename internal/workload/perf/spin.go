package perf

import (
	"os"
	"os/exec"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/workload/process"
)

const spinMode = "spin"

func init() {
	process.RegisterHelper(spinMode, func([]string) error { spin(); return nil })
}

// spinDepth is the depth of a spinner's user stack for a program that walks it.
const spinDepth = 20

// spinCommand returns a process that is always busy in the same way. The
// settings keep Go's runtime from ever interrupting its main thread.
func spinCommand() *exec.Cmd {
	cmd := process.HelperCommand(spinMode)
	cmd.Env = append(cmd.Env, "GOMAXPROCS=1", "GOGC=off", "GODEBUG=asyncpreemptoff=1")
	return cmd
}

// spin signals that it is ready by closing its end of the pipe, and never
// returns.
func spin() {
	_ = os.WriteFile("/proc/self/comm", []byte("ebpf-bench-spin"), 0) // else it is "exe"
	unix.Close(readyFD)
	_ = descend(spinDepth, 1)
}

// descend puts depth frames below the one that spins.
//
//go:noinline
func descend(depth int, seed uint64) uint64 {
	if depth > 1 {
		return descend(depth-1, seed) + 1
	}
	// A xorshift never reaches zero, which the compiler cannot know. The loop
	// contains no call, because one would let the runtime in.
	for seed != 0 {
		seed ^= seed << 13
		seed ^= seed >> 7
		seed ^= seed << 17
	}
	return seed
}
