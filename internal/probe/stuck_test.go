package probe

import (
	"errors"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/workload/process"
)

// stuck is a helper that waits in the kernel, in state D, for a child that never starts
// another program.
const stuck = "stuck-trial"

func init() {
	process.RegisterHelper(stuck, func([]string) error {
		child, _, errno := unix.RawSyscall(unix.SYS_CLONE, unix.CLONE_VFORK|uintptr(unix.SIGCHLD), 0, 0)
		for errno == 0 && child == 0 {
			_, _, _ = unix.RawSyscall(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0)
			_, _, _ = unix.RawSyscall6(unix.SYS_PPOLL, 0, 0, 0, 0, 0, 0)
		}
		return nil
	})
}

// If a load does not end, one process waits for it, and no other command starts a second.
func TestAStuckKernelIsTriedOnce(t *testing.T) {
	t.Cleanup(func() {
		if pid := waiting("ebpf-bench-" + stuck); pid != 0 {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	})
	first := tryLoad(t.Context(), stuck, time.Second)
	second := tryLoad(t.Context(), stuck, time.Second)
	if !errors.Is(first, ErrStuck) || !strings.HasSuffix(first.Error(), "for a load to end for 1s") {
		t.Errorf("said %v", first)
	}
	if !errors.Is(second, ErrStuck) || !strings.HasSuffix(second.Error(), "since an earlier command") {
		t.Errorf("tried again, and said %v", second)
	}
}

func TestALoadThatEndsIsNotStuck(t *testing.T) {
	if err := tryLoad(t.Context(), trial, time.Minute); err != nil {
		t.Error(err)
	}
}
