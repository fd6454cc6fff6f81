package vm

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/org/ebpf-bench-action/internal/vm/guest"
)

// Cmd is a command to run on another kernel. It can run once.
type Cmd struct {
	// Image is the file of the kernel: a vmlinux, or a bzImage, which takes up
	// to a second longer to boot.
	Image string
	// Modules are loaded before the command starts, in this order. If the
	// kernel refuses one, Info has a warning.
	Modules []Module

	// Path is the static binary whose main function calls Main; if empty, it is
	// the binary of this process.
	Path string
	// Args are the arguments of the command, without its name.
	Args []string
	// Env has further variables for the command, as "key=value". Nothing else
	// from this process's environment gets there.
	Env []string
	// Dir is the folder in which the command runs; if empty, it is "/".
	Dir string
	// Files are the files for the guest, by absolute path.
	Files map[string][]byte

	// Mode is Exact or KVM.
	Mode Mode
	// Memory is the guest's memory, in MiB; 0 means enough for a usual suite.
	// Exact results depend on it.
	Memory int
	// Timeout bounds the whole run; 0 means no bound.
	Timeout time.Duration

	// Stdout and Stderr, unless nil, receive the output of the command, and
	// Console that of the kernel.
	Stdout, Stderr, Console io.Writer
	// OnBoot, unless nil, is called once the command starts, when Info
	// describes the kernel.
	OnBoot func()
	// OnResult, unless nil, receives each result as soon as the command reports
	// it. The guest waits for it.
	OnResult func(json.RawMessage)

	// Info describes the VM, as far as it got.
	Info Info
}

// Info describes what the command ran on.
type Info struct {
	Mode Mode
	// QEMU is the version of QEMU, such as "7.2.22 (Debian
	// 1:7.2+dfsg-7+deb12u18)".
	QEMU string
	// Release and Build are the kernel's, as uname prints them with -r and -v.
	Release, Build string
	// CPU is the model of the guest's processor.
	CPU string
	// Started is when the machine was started, by the host's clock.
	Started time.Time
	// Boot is how long it took until the command could start, and Elapsed until
	// the end.
	Boot, Elapsed time.Duration
	// Warnings say what the guest could not set up.
	Warnings []string
}

// Run runs the command and waits for its end. It returns nil only if the guest
// reported that the command succeeded.
//
// The error is an *ExitError if the command failed, a *Fault if the VM failed,
// and ctx's own if ctx was cancelled, which ends the VM at once.
func (c *Cmd) Run(ctx context.Context) error {
	start := time.Now()
	c.Info = Info{Mode: c.Mode, Started: start.UTC().Truncate(time.Second)}
	defer func() { c.Info.Elapsed = time.Since(start) }()

	q, err := c.startQEMU()
	if err != nil {
		return err
	}
	defer q.kill()
	o := newWatch(c, q, start).run(ctx)
	return o.verdict()
}

func (c *Cmd) memory() int { return cmp.Or(c.Memory, defaultMemory) }

// timerSlack lets the kernel delay the timers of the command's threads. While a
// program is measured, the Go runtime wakes a thread of its own every few
// milliseconds.
const timerSlack = 50 * time.Millisecond

func (c *Cmd) config() guest.Config {
	config := guest.Config{
		Args: c.Args,
		Dir:  cmp.Or(c.Dir, "/"),
		Env:  []string{"HOME=/tmp", "PATH=/", guest.ResultsEnv + "=1"},
	}
	if c.Mode == Exact {
		// The command's other threads and garbage collections would come
		// between rounds. Collection is necessary only when memory runs short.
		config.Env = append(config.Env, "GOMAXPROCS=1", "GOGC=off", fmt.Sprintf("GOMEMLIMIT=%dMiB", c.memory()/4))
		config.TimerSlack = uint64(timerSlack)
	}
	config.Env = append(config.Env, c.Env...)
	for _, m := range c.Modules {
		config.Modules = append(config.Modules, modulePath+"/"+m.Name+".ko")
	}
	return config
}
