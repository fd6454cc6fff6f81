package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/probe"
	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/internal/workload/process"
)

// waits is the mode of a helper that waits in the kernel for a child that never starts
// another program; onStuck of one that tries to measure beside it.
const waits, onStuck = "test-waits", "test-on-stuck"

func init() {
	process.RegisterHelper(waits, func([]string) error {
		child, _, errno := unix.RawSyscall(unix.SYS_CLONE, unix.CLONE_VFORK|uintptr(unix.SIGCHLD), 0, 0)
		for errno == 0 && child == 0 {
			_, _, _ = unix.RawSyscall(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0)
			_, _, _ = unix.RawSyscall6(unix.SYS_PPOLL, 0, 0, 0, 0, 0, 0)
		}
		return nil
	})
	process.RegisterHelper(onStuck, func([]string) error {
		ctx := context.Background()
		_, measured := Measure(ctx, &Plan{}, Options{})
		_, compared := Compare(ctx, nil, Options{})
		_, explained := Explain(ctx, nil, Options{}, false)
		for _, err := range []error{measured, compared, explained} {
			fmt.Println(errors.Is(err, probe.ErrStuck), exit.CodeOf(err))
		}
		return nil
	})
}

// On a machine whose kernel loads nothing any more, everything that would measure says so
// instead of waiting with it.
func TestOnAStuckKernelNothingIsMeasured(t *testing.T) {
	testenv.Guest(t, "while it runs, no other command could measure")
	// It looks like an earlier command's trial.
	stuck := process.HelperCommand(waits)
	stuck.Args[0] = "ebpf-bench-trial"
	if err := stuck.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = stuck.Process.Kill()
		_ = stuck.Wait()
	}()
	asleep := func(s process.Stat) bool { return s.Parent == os.Getpid() && s.State == 'D' }
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if pids, _ := process.List(asleep); len(pids) > 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("it does not wait in the kernel")
		}
	}
	out, err := process.HelperCommand(onStuck).Output()
	if want := strings.Repeat("true 3\n", 3); err != nil || string(out) != want {
		t.Errorf("%v\n%swant\n%s", err, out, want)
	}
}
