package runner

import (
	"slices"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/internal/thread"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
	"github.com/org/ebpf-bench-action/runner/internal/driver/testrun"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
	"github.com/org/ebpf-bench-action/runner/internal/subject"
)

// countingXDP is a job whose runs all increment the same number.
func countingXDP(t *testing.T) *Job {
	j := resolved(t, &ebpf.ProgramSpec{Type: ebpf.XDP, Instructions: asm.Instructions{
		asm.LoadMapValue(asm.R1, 0, 0).WithReference("hits"),
		asm.Mov.Imm(asm.R2, 1),
		asm.AddAtomic.Mem(asm.R1, asm.R2, asm.DWord, 0),
		asm.Mov.Imm(asm.R0, 1),
		asm.Return(),
	}}, bench.Benchmark{Parallel: true})
	j.Spec.Maps["hits"] = &ebpf.MapSpec{Name: "hits", Type: ebpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: 1}
	return j
}

func needCPUs(t *testing.T) int {
	t.Helper()
	testenv.Root(t)
	cpus, err := thread.Allowed()
	if err != nil {
		t.Fatal(err)
	}
	if len(cpus) < 2 {
		t.Skip("this machine has one CPU")
	}
	return len(cpus)
}

func TestContentionShows(t *testing.T) {
	cpus := needCPUs(t)
	r := measureJob(t, countingXDP(t))
	if r.Error != "" {
		t.Fatalf("%s (%s)", r.Error, r.Hint)
	}
	if r.CPUs != cpus {
		t.Errorf("it says that it ran on %d CPUs of %d", r.CPUs, cpus)
	}
	for i, runs := range r.Rounds.RunCnt {
		if want := uint64(cpus * testrun.ManyRepeat * testrun.ParallelTimes); runs != want || r.Floor.RunCnt[i] != want {
			t.Errorf("%d runs in a round, %d of the floor, want %d", runs, r.Floor.RunCnt[i], want)
		}
	}
	s := r.Sample("contention")
	if s == nil || len(s.Values) == 0 {
		t.Fatalf("no contention: %q", r.Warnings)
	}
	// A number that moves from CPU to CPU costs tens of nanoseconds.
	slices.Sort(s.Values)
	if best := s.Values[len(s.Values)-1]; best < 2 {
		t.Errorf("no round shows contention: at most %.2f ns", best)
	}
}

func TestEveryCPURunsTheProgram(t *testing.T) {
	cpus := needCPUs(t)
	onThread(t, func(env *driver.Environment) {
		s, err := subject.Open(t.Context(), env, countingXDP(t))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		s.Driver.(driver.Resizer).Resize(func(now int) int {
			if want := cpus * testrun.ManyRepeat * testrun.ParallelTimes; now != want {
				t.Errorf("%d runs in a slice, want %d", now, want)
			}
			return cpus * 100
		})
		if err := s.Drive(t.Context()); err != nil {
			t.Fatal(err)
		}
		var hits uint64
		if err := s.Coll.Maps["hits"].Lookup(uint32(0), &hits); err != nil {
			t.Fatal(err)
		}
		if want := uint64(cpus * 100); hits != want {
			t.Errorf("%d runs, want %d", hits, want)
		}
	})
}

func TestOneCPUIsNotSeveral(t *testing.T) {
	j := countingXDP(t)
	for _, c := range []struct {
		mode bench.Mode
		cpus []int
		want string
	}{
		{bench.ModeHost, []int{0, 1}, ""},
		{bench.ModeHost, []int{3}, plan.OneCPU},
		{bench.ModeExact, []int{0, 1}, plan.OneAtOnce},
	} {
		got := plan.OrAlone([]*Job{j}, c.mode, c.cpus)[0]
		if got.Parallel != (c.want == "") || c.want != "" && !slices.Contains(got.Warnings, c.want) {
			t.Errorf("%s on %v: parallel %v, warnings %q", c.mode, c.cpus, got.Parallel, got.Warnings)
		}
	}
	if !j.Parallel || len(j.Warnings) > 0 {
		t.Error("the job itself has changed")
	}
}

func TestParallelIsByTestRun(t *testing.T) {
	_, err := tryJob(&ebpf.ProgramSpec{Type: ebpf.PerfEvent, Instructions: returns(0)}, bench.Benchmark{Parallel: true})
	if err == nil || !strings.Contains(err.Error(), "parallel drives by test_run") {
		t.Errorf("got %v", err)
	}
}
