package runner

import (
	"os"
	"os/signal"
	"runtime"
	"testing"
	"time"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/internal/thread"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
	"github.com/org/ebpf-bench-action/runner/internal/subject"
)

// If signals come faster than a call ends, all runs still happen exactly once.
func TestAStormOfSignalsEndsNoCall(t *testing.T) {
	testenv.Root(t)
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, unix.SIGUSR1)
	defer signal.Stop(caught)
	const runs = 1_000_000
	j := resolved(t, &ebpf.ProgramSpec{Type: ebpf.SchedCLS, Instructions: returns(0)}, bench.Benchmark{TestRun: &bench.TestRun{Repeat: runs}})
	onThread(t, func(env *driver.Environment) {
		stats, err := driver.EnableStats()
		if err != nil {
			t.Fatal(err)
		}
		defer stats.Close()
		s, err := subject.Open(t.Context(), env, j)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		const interval = 100 * time.Microsecond
		stop := storm(t, unix.SIGUSR1, interval)
		got, err := s.Slice(t.Context())
		stop()
		if err != nil {
			t.Fatal(err)
		}
		if got.RunCnt != runs {
			t.Errorf("%d runs, want each of %d once", got.RunCnt, runs)
		}
		if got.Wall < 10*interval {
			t.Errorf("the call took %s, which is too short for a storm of signals", got.Wall)
		}
	})
	select {
	case <-caught:
	case <-time.After(5 * time.Second):
		t.Error("the signals were lost")
	}
}

// The verifier follows this program for much longer than the time between
// signals.
func TestAStormOfSignalsEndsNoLoad(t *testing.T) {
	testenv.Root(t)
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, unix.SIGUSR2)
	defer signal.Stop(caught)
	j := resolved(t, &ebpf.ProgramSpec{Type: ebpf.XDP, Instructions: asm.Instructions{
		asm.Mov.Imm(asm.R1, 100_000),
		asm.Sub.Imm(asm.R1, 1).WithSymbol("loop"),
		asm.JNE.Imm(asm.R1, 0, "loop"),
		asm.Mov.Imm(asm.R0, 2),
		asm.Return(),
	}}, bench.Benchmark{TestRun: &bench.TestRun{Repeat: 1}})
	onThread(t, func(env *driver.Environment) {
		const interval = 100 * time.Microsecond
		began := time.Now()
		stop := storm(t, unix.SIGUSR2, interval)
		s, err := subject.Open(t.Context(), env, j)
		took := time.Since(began)
		stop()
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if took < 10*interval {
			t.Errorf("loading took %s, which is too short for a storm of signals", took)
		}
	})
}

// storm makes the kernel send the calling thread a signal again and again.
func storm(t *testing.T, sig unix.Signal, every time.Duration) (stop func()) {
	t.Helper()
	event := struct { // the kernel's struct sigevent
		value       uint64
		signal      int32
		notify, tid int32
		_           [44]byte
	}{signal: int32(sig), notify: 4 /* SIGEV_THREAD_ID */, tid: int32(unix.Gettid())}
	var id int32
	if _, _, errno := unix.Syscall(unix.SYS_TIMER_CREATE, unix.CLOCK_MONOTONIC, uintptr(unsafe.Pointer(&event)), uintptr(unsafe.Pointer(&id))); errno != 0 {
		t.Fatal(errno)
	}
	spec := unix.ItimerSpec{Interval: unix.NsecToTimespec(every.Nanoseconds()), Value: unix.NsecToTimespec(every.Nanoseconds())}
	if _, _, errno := unix.Syscall6(unix.SYS_TIMER_SETTIME, uintptr(id), 0, uintptr(unsafe.Pointer(&spec)), 0, 0, 0); errno != 0 {
		t.Fatal(errno)
	}
	return func() { _, _, _ = unix.Syscall(unix.SYS_TIMER_DELETE, uintptr(id), 0, 0) }
}

func TestSignalsAreAsBeforeAfterwards(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	mask := func() (m unix.Sigset_t) {
		if err := unix.PthreadSigmask(unix.SIG_BLOCK, nil, &m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	before, inside := mask(), unix.Sigset_t{}
	if err := thread.WithoutSignals(func() error { inside = mask(); return nil }); err != nil {
		t.Fatal(err)
	}
	if inside.Val[0]&(1<<(unix.SIGTERM-1)) == 0 {
		t.Error("SIGTERM is let through")
	}
	if mask() != before {
		t.Error("other signals are held back than before")
	}
}
