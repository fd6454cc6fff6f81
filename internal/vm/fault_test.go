package vm

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// wantFault runs a command that must end in a fault.
func wantFault(t *testing.T, cmd *Cmd, kind error, reason string) *Fault {
	t.Helper()
	err := cmd.Run(t.Context())
	t.Logf("after %s: %+v", cmd.Info.Elapsed, err)
	var f *Fault
	if !errors.As(err, &f) || !errors.Is(err, kind) || !strings.Contains(f.Reason, reason) {
		t.Fatalf("got %v, want %v: %s", err, kind, reason)
	}
	return f
}

func wantTrace(t *testing.T, f *Fault, want string) {
	t.Helper()
	if trace := strings.Join(f.Trace, "\n"); !strings.Contains(trace, want) {
		t.Errorf("%q is missing in the trace:\n%s", want, trace)
	}
}

func TestAKernelThatPanics(t *testing.T) {
	t.Parallel()
	f := wantFault(t, newCmd(t, "6.12", "panic"), ErrPanic, "sysrq triggered crash")
	wantTrace(t, f, "sysrq_handle_crash+")
}

func TestACommandThatUsesUpTheMemory(t *testing.T) {
	t.Parallel()
	f := wantFault(t, newCmd(t, "6.1", "exhaust"), ErrMemory, "it has 256 MiB, and the kernel killed 1 of its processes")
	if bench.Hint(f) == "" {
		t.Error("no hint")
	}
}

func TestAProgramThatLocksTheGuestUp(t *testing.T) {
	t.Parallel()
	cmd := newCmd(t, "6.12", "lock_up")
	f := wantFault(t, cmd, ErrHung, "it is in bpf_prog_")
	wantTrace(t, f, "_lock_up+")
	wantTrace(t, f, "bpf_test_run+")
}

func TestAnImageThatIsNoKernel(t *testing.T) {
	t.Parallel()
	cmd := newCmd(t, "6.1", "hello")
	cmd.Image = tempFile(t, make([]byte, 1<<20))
	wantFault(t, cmd, ErrNoKernel, "neither a bzImage nor a vmlinux")
}

// The test overwrites the kernel's code, so that it gets nowhere.
func TestAKernelThatIsDamaged(t *testing.T) {
	t.Parallel()
	cmd := newCmd(t, "6.1", "hello")
	image, err := os.ReadFile(cmd.Image)
	if err != nil {
		t.Fatal(err)
	}
	clear(image[2<<20 : 4<<20])
	cmd.Image = tempFile(t, image)
	err = cmd.Run(t.Context())
	if !errors.Is(err, ErrBoot) && !errors.Is(err, ErrHung) && !errors.Is(err, ErrNoKernel) {
		t.Errorf("got %v", err)
	}
	t.Log(err)
}

func TestAGuestWithTooLittleMemory(t *testing.T) {
	t.Parallel()
	for _, release := range kernels {
		t.Run(release, func(t *testing.T) {
			t.Parallel()
			cmd := newCmd(t, release, "hello")
			cmd.Memory = 64
			f := wantFault(t, cmd, ErrMemory, "it has 64 MiB, and its kernel and files alone take ")
			if bench.Hint(f) == "" {
				t.Error("no hint")
			}
		})
	}
}

func TestAResultThatIsNoJSON(t *testing.T) {
	t.Parallel()
	wantFault(t, newCmd(t, "6.1", "garbage"), ErrGuest, "read results: invalid character")
}

func TestAFolderThatIsNotThere(t *testing.T) {
	t.Parallel()
	cmd := newCmd(t, "6.1", "hello")
	cmd.Dir = "/nowhere"
	wantFault(t, cmd, ErrGuest, "chdir /nowhere")
}

func TestAMachineWithoutQEMU(t *testing.T) {
	cmd := newCmd(t, "6.1", "hello")
	t.Setenv("PATH", t.TempDir())
	f := wantFault(t, cmd, ErrNoQEMU, qemuName)
	if !strings.Contains(bench.Hint(f), "qemu-system-x86") {
		t.Errorf("the hint is %q", bench.Hint(f))
	}
}
