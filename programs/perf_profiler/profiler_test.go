//go:build linux

package perfprofiler

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/org/ebpf-bench-action/internal/testenv"
	"golang.org/x/sys/unix"
)

const frequency = 1000

// timeout is how long a test waits for samples before it gives up.
const timeout = 20 * time.Second

// busyProcess starts a process that never sleeps, for the time of the test.
func busyProcess(tb testing.TB) (pid uint32) {
	tb.Helper()
	cmd := exec.Command("sh", "-c", "while :; do :; done")
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // always an error: it was killed
	})
	return uint32(cmd.Process.Pid)
}

func sample(tb testing.TB, p *Profiler) {
	tb.Helper()
	tb.Cleanup(func() {
		if err := p.Close(); err != nil {
			tb.Error(err)
		}
	})
	if err := p.Attach(frequency); err != nil {
		tb.Fatal(err)
	}
}

func stats(tb testing.TB, p *Profiler) Stats {
	tb.Helper()
	s, err := p.Stats()
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// collect runs p until enough says so, and returns all records.
func collect(tb testing.TB, p *Profiler, enough func(Record) bool) []Record {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), timeout)
	defer cancel()

	var records []Record
	stopped := false
	err := p.Run(ctx, func(r Record) {
		records = append(records, r)
		if !stopped && enough(r) {
			stopped = true
			cancel()
		}
	})
	if err != nil {
		tb.Fatal(err)
	}
	if !stopped {
		tb.Fatalf("%d records in %s were not enough", len(records), timeout)
	}
	return records
}

func TestSamplesOneProcess(t *testing.T) {
	testenv.Root(t)
	pid, _ := busyProcess(t), busyProcess(t)

	p, err := New(pid)
	if err != nil {
		t.Fatal(err)
	}
	sample(t, p)

	n := 0
	records := collect(t, p, func(Record) bool { n++; return n == 50 })
	for _, r := range records {
		if r.PID != pid || r.TID != pid {
			t.Errorf("got process %d, thread %d, want %d only", r.PID, r.TID, pid)
		}
		if len(r.Stack) == 0 || r.Time == 0 {
			t.Errorf("got an empty record: %+v", r)
		}
	}
	if got := stats(t, p); got.Records != uint64(len(records)) || got.Dropped != 0 {
		t.Errorf("got %+v, want %d records and no drops", got, len(records))
	}
}

func TestSamplesAllProcesses(t *testing.T) {
	testenv.Root(t)
	missing := map[uint32]bool{busyProcess(t): true, busyProcess(t): true}

	p, err := New(0)
	if err != nil {
		t.Fatal(err)
	}
	sample(t, p)

	collect(t, p, func(r Record) bool {
		delete(missing, r.PID)
		return len(missing) == 0
	})
}

func TestStopsWhenItsContextIsDone(t *testing.T) {
	testenv.Root(t)

	p, err := New(0)
	if err != nil {
		t.Fatal(err)
	}
	sample(t, p)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Run(ctx, func(Record) {}); err != nil {
		t.Error(err)
	}
	if len(p.events) != 0 {
		t.Error("perf events are still open")
	}
}

func TestFullRingCountsEveryDrop(t *testing.T) {
	testenv.Root(t)
	busyProcess(t)

	counting, err := ebpf.EnableStats(unix.BPF_STATS_RUN_TIME)
	if err != nil {
		t.Fatal(err)
	}
	defer counting.Close()

	spec, err := loadBpf()
	if err != nil {
		t.Fatal(err)
	}
	spec.Maps[bpfMapEvents].MaxEntries = uint32(os.Getpagesize())
	p, err := newProfiler(spec)
	if err != nil {
		t.Fatal(err)
	}
	sample(t, p)

	// Nobody reads, so the ring stays full.
	for deadline := time.Now().Add(timeout); stats(t, p).Dropped < 20; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("timed out waiting for drops")
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Run(ctx, func(Record) {}); err != nil {
		t.Fatal(err)
	}

	got := stats(t, p)
	taken, err := p.objs.Profile.Stats()
	if err != nil {
		t.Fatal(err)
	}
	if got.Records == 0 || got.Records+got.Dropped != taken.RunCount {
		t.Errorf("got %+v of %d samples, want each accounted for", got, taken.RunCount)
	}
}
