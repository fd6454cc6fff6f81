// Package process runs helpers, which are the tool's own binary started again,
// and finds, ends and explains the processes that others start.
//
// Whatever the tool starts ends with it, even if the tool is killed. Helpers
// ensure that: a main function calls [RunHelper] first.
package process

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
)

// helperEnv is the environment variable that turns this binary into one of its
// helpers.
const helperEnv = "EBPF_BENCH_HELPER"

// A helper asks the kernel to kill its children when the thread that started
// them ends, which the runtime may do to any thread but the main one. Only
// init can tie the main goroutine to it.
func init() {
	if os.Getenv(helperEnv) != "" {
		runtime.LockOSThread()
	}
}

// helpers are the functions of helpers, by mode.
var helpers = map[string]func(args []string) error{}

// RegisterHelper registers the function of a helper's mode. Call it from init
// functions.
func RegisterHelper(mode string, run func(args []string) error) { helpers[mode] = run }

// If this process was started as a helper, RunHelper runs it as that and never
// returns. Call it on the main goroutine before anything else.
func RunHelper() {
	mode := os.Getenv(helperEnv)
	if mode == "" {
		return
	}
	// A helper's children are not helpers.
	os.Unsetenv(helperEnv)

	err := fmt.Errorf("unknown %s", helperEnv)
	if run := helpers[mode]; run != nil {
		err = run(os.Args[1:])
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "ebpf-bench: helper %s: %s\n", mode, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// HelperCommand returns this binary as a helper. It works even if the file that
// the binary was started from has been replaced. It panics in a helper that did
// not call RunHelper first, which would otherwise start more and more of its
// kind.
func HelperCommand(mode string, args ...string) *exec.Cmd {
	if os.Getenv(helperEnv) != "" {
		panic("process: the main function does not call RunHelper")
	}
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Args[0] = "ebpf-bench-" + mode
	cmd.Env = append(os.Environ(), helperEnv+"="+mode)
	return cmd
}
