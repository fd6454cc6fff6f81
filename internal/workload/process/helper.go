// Package process runs helpers, which are the tool's own binary started again,
// and finds, ends and explains the processes that others start.
//
// Whatever the tool starts ends with it, even if the tool is killed. Helpers
// ensure that: a main function calls [RunHelper] first.
package process

import (
	"errors"
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

// begun is whether RunHelper was called.
var begun bool

// RunHelper runs this process as a helper, and never returns, if it was started as
// one. Call it on the main goroutine before anything else.
func RunHelper() {
	begun = true
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

// errNotBegun is the error of a process that would start itself again and again.
var errNotBegun = errors.New("main or TestMain does not call runner.RunHelper first")

// HelperCommand returns this executable as a command that runs as a helper, even if its
// file has been replaced. The command does not start if RunHelper was not called.
func HelperCommand(mode string, args ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", args...)
	if !begun {
		cmd.Err = errNotBegun
	}
	cmd.Args[0] = "ebpf-bench-" + mode
	cmd.Env = append(os.Environ(), helperEnv+"="+mode)
	return cmd
}

// RootHelper returns the helper of a mode as a command that runs as root, by sudo if this
// process does not. Under sudo it has no other variable of the environment.
func RootHelper(mode string) (*exec.Cmd, error) {
	if os.Geteuid() == 0 {
		return HelperCommand(mode), nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	sudo, err := exec.LookPath("sudo")
	if err != nil {
		return nil, errors.New("it takes root, and there is no sudo")
	}
	cmd := exec.Command(sudo, "-n", "--", "env", helperEnv+"="+mode, self)
	if !begun {
		cmd.Err = errNotBegun
	}
	return cmd, nil
}
