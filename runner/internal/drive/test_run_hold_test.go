package drive

import (
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/pmu"
	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/internal/thread"
	"github.com/org/ebpf-bench-action/internal/workload/process"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
	"github.com/org/ebpf-bench-action/runner/internal/plan/plantest"
)

// A program whose runs are counted is held if calls have several runs, since
// each such call would wait for all CPUs, and otherwise is not.
func TestCountedProgramsAreHeldForLongCalls(t *testing.T) {
	testenv.Root(t)
	packets := []bench.Packet{{Hex: "00112233445566778899aabb0800"}, {Hex: "00112233445566778899aabb86dd"}}
	job := plantest.Job(t, &ebpf.ProgramSpec{Type: ebpf.XDP, Instructions: plantest.Returns(2)}, bench.Benchmark{TestRun: &bench.TestRun{Packets: packets}})
	onThread(t, func(*Environment) {
		env := &Environment{Exact: true, Late: true, Counters: &pmu.Counters{}}
		defer env.Close()
		s, err := Open(t.Context(), env, job)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		d := s.Driver.(*testRun)
		for _, c := range []struct {
			runs int
			held bool
		}{{2, false}, {20, true}, {2, true}} {
			d.Resize(func(int) int { return c.runs })
			if err := s.Drive(t.Context()); err != nil {
				t.Fatal(err)
			}
			if held := d.hold == nil && len(d.closers) == 1; held != c.held {
				t.Errorf("%d runs: held %t, want %t", c.runs, held, c.held)
			}
		}
	})
}

func TestPacketsHaveTheSameShare(t *testing.T) {
	for _, c := range []struct{ repeat, packets, want int }{
		{2000, 1, 2000}, {2000, 4, 500}, {2000, 3, 667}, {2000, 1024, 2}, {2000, 256, 8}, {10, 100, 1}, {1, 1, 1},
	} {
		if got := share(c.repeat, c.packets); got != c.want {
			t.Errorf("%d runs for %d packets: %d each, want %d", c.repeat, c.packets, got, c.want)
		}
	}
}

func TestCallsOfTestRunAreKeptShort(t *testing.T) {
	for _, tc := range []struct {
		atOnce, runs int
		took         time.Duration
		want         int
	}{
		{64, 64, longCall / 10, 128},
		{64, 10, longCall / 10, 64}, // too few runs to tell
		{64, 64, longCall, 64},
		{64, 64, 3 * longCall, 32},
		{64, 10, 3 * longCall, 5},
		{1, 1, 3 * longCall, 1},
	} {
		d := &testRun{atOnce: tc.atOnce}
		if d.adapt(tc.runs, tc.took); d.atOnce != tc.want {
			t.Errorf("after %d of %d runs in %s: %d, want %d", tc.runs, tc.atOnce, tc.took, d.atOnce, tc.want)
		}
	}
}

// A program that cannot run on a CPU ends with an error, and leaves no thread
// behind.
func TestAnErrorOfAnotherCPU(t *testing.T) {
	testenv.Root(t)
	if cpus, err := thread.Allowed(); err != nil || len(cpus) < 2 {
		t.Skipf("this machine has one CPU (%v)", err)
	}
	onThread(t, func(env *Environment) {
		s, err := Open(t.Context(), env, busy(t))
		if err != nil {
			t.Fatal(err)
		}
		p := s.Driver.(*parallel)
		p.others[0].run.inputs = []plan.Input{{Data: make([]byte, 3)}}
		for range 2 {
			if err := s.Drive(t.Context()); err == nil || !strings.Contains(err.Error(), "on another CPU: test_run of packet 1 (3 bytes)") {
				t.Errorf("got %v", err)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if _, open := <-p.others[0].done; open {
			t.Error("the other CPU's thread has not ended")
		}
	})
}

// busy is a program that all CPUs run at once.
func busy(t *testing.T) *plan.Job {
	t.Helper()
	return plantest.Job(t, &ebpf.ProgramSpec{Type: ebpf.XDP, Instructions: plantest.Returns(2)}, bench.Benchmark{Parallel: true})
}

// onThread calls fn on a measuring thread.
func onThread(t *testing.T, fn func(env *Environment)) {
	t.Helper()
	done := make(chan error)
	go func() {
		// If fn fails the test, its goroutine ends without a result.
		defer close(done)
		runtime.LockOSThread()
		env, err := NewEnvironment(false)
		if err == nil {
			defer env.Close()
			fn(env)
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func TestMain(m *testing.M) {
	process.RunHelper()
	os.Exit(m.Run())
}
