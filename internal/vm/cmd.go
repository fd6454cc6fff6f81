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

// Cmd is a command to run on another kernel. It runs once.
type Cmd struct {
	// Image is the file of the kernel: a vmlinux, or a bzImage, which takes
	// up to a second longer to boot.
	Image string
	// Modules are loaded before the command starts, in this order. One that
	// the kernel refuses is a warning in Info.
	Modules []Module

	// Path is the static binary whose main function calls Main; if empty, it
	// is this process's own.
	Path string
	// Args are the arguments of the command, without its name.
	Args []string
	// Env are further variables for the command, as "key=value". Nothing else
	// of this process's environment gets there.
	Env []string
	// Dir is the folder in which the command runs; if empty, it is "/".
	Dir string
	// Files are what the command finds in the guest, by absolute path.
	Files map[string][]byte

	// Mode is Exact or KVM.
	Mode Mode
	// Memory is the guest's, in MiB; 0 is what a usual suite needs. Exact
	// results depend on it.
	Memory int
	// Timeout bounds the whole run; 0 is no bound.
	Timeout time.Duration

	// Stdout and Stderr get what the command writes, and Console what the
	// kernel prints. They may be nil.
	Stdout, Stderr, Console io.Writer
	// OnBoot is called once the command starts, with what Info says of the
	// kernel. It may be nil.
	OnBoot func()
	// OnResult gets each result that the command reports, as soon as it does.
	// The guest waits for it. It may be nil.
	OnResult func(json.RawMessage)

	// Info is about the VM that ran, as far as it got.
	Info Info
}

// Info tells what the command ran on.
type Info struct {
	Mode Mode
	// QEMU is its version, such as "7.2.22 (Debian 1:7.2+dfsg-7+deb12u18)".
	QEMU string
	// Release and Build are the kernel's, as uname prints them with -r and -v.
	Release, Build string
	// CPU is the model of the guest's processor.
	CPU string
	// Started is when the machine was started, by this one's clock.
	Started time.Time
	// Boot is how long it took until the command could start, and Elapsed
	// until the end.
	Boot, Elapsed time.Duration
	// Warnings are what the guest could not set up.
	Warnings []string
}

// Run runs the command and waits for its end. It returns nil only when the
// guest has said that the command succeeded.
//
// The error is an *ExitError for a command that failed, a *Fault for a VM that
// did, and ctx's own when ctx was cancelled, which ends the VM at once.
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

// timerSlack lets the kernel put off the timers of the command's threads. The
// Go runtime wakes a thread of its own every few milliseconds while a program
// is measured.
const timerSlack = 50 * time.Millisecond

func (c *Cmd) config() guest.Config {
	config := guest.Config{
		Args: c.Args,
		Dir:  cmp.Or(c.Dir, "/"),
		Env:  []string{"HOME=/tmp", "PATH=/", guest.ResultsEnv + "=1"},
	}
	if c.Mode == Exact {
		// The command's own threads and collections would come between rounds.
		// Only when memory runs short there has to be one.
		config.Env = append(config.Env, "GOMAXPROCS=1", "GOGC=off", fmt.Sprintf("GOMEMLIMIT=%dMiB", c.memory()/4))
		config.TimerSlack = uint64(timerSlack)
	}
	config.Env = append(config.Env, c.Env...)
	for _, m := range c.Modules {
		config.Modules = append(config.Modules, modulePath+"/"+m.Name+".ko")
	}
	return config
}
