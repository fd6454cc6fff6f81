package perfevent

import (
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/workload/perf"
	"github.com/org/ebpf-bench-action/internal/workload/process"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
)

// Programs share a load, unless it may end by itself.
func TestSampledLoads(t *testing.T) {
	var env driver.Environment
	defer env.LeaveHooks()
	start := func(desc bench.Load) (pid int) {
		t.Helper()
		l, shared, err := sampledLoad(&env, desc)
		if err != nil {
			t.Fatal(err)
		}
		if shared == (len(desc.Command) > 0) {
			t.Errorf("%+v is shared: %t", desc, shared)
		}
		if !shared {
			defer l.Close()
		}
		tids, err := l.TIDs()
		if err != nil || len(tids) == 0 {
			t.Fatalf("threads %v, %v", tids, err)
		}
		return tids[0]
	}
	one := start(bench.Load{CPU: 1})
	if again := start(bench.Load{CPU: 1}); again != one {
		t.Errorf("the second program has load %d, the first %d", again, one)
	}
	if two := start(bench.Load{CPU: 2}); two == one {
		t.Error("one CPU and two are the same load")
	}
	command := bench.Load{Command: []string{"sleep", "1000"}}
	if first, second := start(command), start(command); first == second {
		t.Error("two programs have one command")
	}
	unix.Kill(one, unix.SIGKILL)
	for l := driver.Shared[*perf.Load](&env, "sampled {CPU:1 Command:[] PID:0}"); l.Err() == nil; {
		time.Sleep(time.Millisecond)
	}
	if again := start(bench.Load{CPU: 1}); again == one {
		t.Error("a load that has ended is used again")
	}
	last := driver.Shared[*perf.Load](&env, "sampled {CPU:1 Command:[] PID:0}")
	if err := env.LeaveHooks(); err != nil {
		t.Error(err)
	}
	if last.Err() == nil {
		t.Error("a load is left")
	}
}

func TestMain(m *testing.M) {
	process.RunHelper()
	os.Exit(m.Run())
}
