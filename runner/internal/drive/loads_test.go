package drive

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// Programs share a load, unless it may end by itself.
func TestSampledLoads(t *testing.T) {
	var s sampled
	defer s.endAll()
	start := func(desc bench.Load) (pid int) {
		t.Helper()
		l, shared, err := s.start(desc)
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
	if start(command) == start(command) {
		t.Error("two programs have one command")
	}
	unix.Kill(one, unix.SIGKILL)
	for l := s["{CPU:1 Command:[] PID:0}"]; l.Err() == nil; {
		time.Sleep(time.Millisecond)
	}
	if again := start(bench.Load{CPU: 1}); again == one {
		t.Error("a load that has ended is used again")
	}
	if err := s.endAll(); err != nil || len(s) > 0 {
		t.Errorf("%d loads are left, %v", len(s), err)
	}
}
