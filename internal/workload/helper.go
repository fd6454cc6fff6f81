package workload

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
)

// helperEnv is the environment variable that turns this binary into one of
// its helpers.
const helperEnv = "EBPF_BENCH_HELPER"

// A helper asks the kernel to kill its children when the thread that started
// them ends, which the runtime may do to any thread but the main one. Only
// init can tie the main goroutine to it.
func init() {
	if os.Getenv(helperEnv) != "" {
		runtime.LockOSThread()
	}
}

// RunHelper runs this process as a helper, and then never returns, when it was
// started as one. It must be called on the main goroutine before all else.
func RunHelper() {
	mode := os.Getenv(helperEnv)
	if mode == "" {
		return
	}
	// What a helper starts is no helper.
	os.Unsetenv(helperEnv)

	var err error
	switch mode {
	case spinMode:
		spin()
	case superviseMode:
		err = supervise(os.Args[1:])
	case echoMode:
		echo()
	case workerMode:
		err = work(os.Args[1:])
	case holdCgroupMode:
		err = holdCgroup(os.Args[1:])
	case restoreSysctlMode:
		err = restoreSysctl(os.Args[1:])
	default:
		err = fmt.Errorf("unknown %s", helperEnv)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "ebpf-bench: helper %s: %s\n", mode, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// helperCommand is this binary as a helper. It works also when the file that
// the binary was started from has been replaced.
func helperCommand(mode string, args ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Args[0] = "ebpf-bench-" + mode
	cmd.Env = append(os.Environ(), helperEnv+"="+mode)
	return cmd
}
