package probe

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/workload/process"
)

// ErrStuck says that this machine's kernel loads no programs any more.
var ErrStuck = errors.New("the kernel of this machine loads no BPF programs any more")

// trialTime is how long the load of the smallest program may take, which takes
// less than a millisecond.
const trialTime = 10 * time.Second

// trial is the mode of the helper that loads it.
const trial = "trial"

func init() {
	process.RegisterHelper(trial, func([]string) error {
		if p, err := load(ebpf.ProgramSpec{Type: ebpf.SocketFilter}); err == nil {
			p.Close()
		}
		return nil // what it could load is not the question
	})
}

// tried is what the first trial of the process said.
var tried struct {
	sync.Once
	stuck error
}

// NotStuck returns ErrStuck if loading a program does not end. It asks once in the
// life of the process, by a helper, because a process that waits in the kernel for
// that cannot be killed. While the helper of an earlier command waits, it starts none.
func NotStuck(ctx context.Context) error {
	var err error
	tried.Do(func() {
		if err = tryLoad(ctx, trial, trialTime); errors.Is(err, ErrStuck) {
			tried.stuck = err
		}
	})
	return cmp.Or(tried.stuck, err)
}

func tryLoad(ctx context.Context, mode string, patience time.Duration) error {
	helper := process.HelperCommand(mode)
	timeout := time.After(patience)
	for pid := waiting(helper.Args[0]); pid != 0; pid = waiting(helper.Args[0]) {
		select {
		case <-timeout:
			return stuckBy(pid, "has waited in the kernel for a load to end since an earlier command")
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
	// Its session is its own, so that whoever waits for the tool's group to end
	// does not wait for it.
	helper.SysProcAttr = &unix.SysProcAttr{Setsid: true}
	if err := helper.Start(); err != nil {
		return nil // it is not known to be stuck
	}
	ended := make(chan struct{})
	go func() {
		_ = helper.Wait() // however it ended, it did
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		select {
		case <-ended:
			return nil // a caller that is canceled says what it did until then
		case <-time.After(time.Second):
			return ctx.Err()
		}
	case <-timeout:
		return stuckBy(helper.Process.Pid, fmt.Sprintf("has waited in the kernel for a load to end for %s", patience))
	}
}

func stuckBy(pid int, why string) error {
	return bench.WithHint(fmt.Errorf("%w: process %d %s", ErrStuck, pid, why),
		"restart the machine: Linux 6.18 gets stuck when it has to free about a thousand programs at once; or measure in a virtual machine by --kernel 6.12")
}

// waiting returns the process of a name that waits in the kernel and cannot be
// interrupted, or 0.
func waiting(name string) int {
	pids, _ := process.List(func(s process.Stat) bool { return s.State == 'D' })
	for _, pid := range pids {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if first, _, _ := bytes.Cut(line, []byte{0}); err == nil && string(first) == name {
			return pid
		}
	}
	return 0
}
