package testrun

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/pmu"
	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/internal/thread"
	"github.com/org/ebpf-bench-action/internal/workload/process"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
	"github.com/org/ebpf-bench-action/runner/internal/driver/drivertest"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
	"github.com/org/ebpf-bench-action/runner/internal/plan/plantest"
	"github.com/org/ebpf-bench-action/runner/internal/progrun"
)

// A program whose runs are counted is held if calls have several runs, since
// each such call would wait for all CPUs, and otherwise is not.
func TestCountedProgramsAreHeldForLongCalls(t *testing.T) {
	testenv.Root(t)
	packets := []bench.Packet{{Hex: "00112233445566778899aabb0800"}, {Hex: "00112233445566778899aabb86dd"}}
	job := plantest.Job(t, &ebpf.ProgramSpec{Type: ebpf.XDP, Instructions: plantest.Returns(2)}, bench.Benchmark{TestRun: &bench.TestRun{Packets: packets}})
	drivertest.OnThread(t, func(*driver.Environment) {
		env := &driver.Environment{Exact: true, Late: true, Counters: &pmu.Counters{}}
		defer env.Close()
		d := opened(t, env, job).(*testRun)
		defer d.Close()
		for _, c := range []struct {
			runs int
			held bool
		}{{2, false}, {20, true}, {2, true}} {
			d.Resize(func(int) int { return c.runs })
			if _, err := d.Drive(t.Context()); err != nil {
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
	drivertest.OnThread(t, func(env *driver.Environment) {
		p := opened(t, env, busy(t)).(*parallel)
		p.others[0].run.inputs = []progrun.Input{{Data: make([]byte, 3)}}
		for range 2 {
			if _, err := p.Drive(t.Context()); err == nil || !strings.Contains(err.Error(), "on another CPU: test_run of packet 1 (3 bytes)") {
				t.Errorf("got %v", err)
			}
		}
		if err := p.Close(); err != nil {
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

// opened loads a job's program and opens its driver.
func opened(t *testing.T, env *driver.Environment, j *plan.Job) driver.Driver {
	t.Helper()
	p, err := ebpf.NewProgram(j.ProgramSpec())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	d, err := open(t.Context(), env, p, j)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestMain(m *testing.M) {
	process.RunHelper()
	os.Exit(m.Run())
}
