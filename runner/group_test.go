package runner

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/internal/workload/process"
	"github.com/org/ebpf-bench-action/runner/internal/load"
)

// manyJobs returns benchmarks of an empty program, and one in their middle of a
// program that reaches reached others.
func manyJobs(n, reached int) (all []*Job) {
	for i := range n {
		b := bench.Benchmark{Name: fmt.Sprintf("b%03d", i), TestRun: &bench.TestRun{}}
		job, err := tryJob(&ebpf.ProgramSpec{Type: ebpf.SchedCLS, Instructions: returns(0)}, b)
		if err != nil {
			panic(err)
		}
		all = append(all, job)
	}
	for i := range reached {
		name := fmt.Sprintf("reached%d", i)
		all[n/2].Spec.Programs[name] = &ebpf.ProgramSpec{Name: name, Type: ebpf.SchedCLS, Instructions: returns(0), License: "GPL"}
	}
	return all
}

func TestGroupsAreSmall(t *testing.T) {
	jobs := manyJobs(250, mostGrouped)
	var order []*Job
	for i, g := range newGroups(jobs, false) {
		size := len(g.floors) * (1 + besideProgram)
		for _, track := range g.tracks {
			size += len(track.job.Spec.Programs) + besideProgram
		}
		if size > mostGrouped+1+2*besideProgram && len(g.tracks) > 1 {
			t.Errorf("group %d of %d benchmarks holds %d programs", i, len(g.tracks), size)
		}
		if len(g.floors) != 1 || g.tracks[0].floor != g.floors[0] {
			t.Errorf("group %d has %d floors, and not its own", i, len(g.floors))
		}
		for _, track := range g.tracks {
			order = append(order, track.job)
		}
	}
	if !slices.Equal(order, jobs) {
		t.Errorf("%d benchmarks in other order", len(order))
	}
	if all := newGroups(jobs, true); len(all) != 1 || len(all[0].tracks) != len(jobs) {
		t.Errorf("%d groups in exact mode, which loads one benchmark at a time", len(all))
	}
}

// What a program leaves to a timer runs whenever that is due, also inside the runs of others.
func TestProgramsThatLeaveWorkAreAlone(t *testing.T) {
	jobs := manyJobs(5, 0)
	for _, i := range []int{1, 2} {
		jobs[i].Spec.Programs["tick"] = &ebpf.ProgramSpec{Name: "tick", Type: ebpf.SchedCLS, Instructions: append(asm.Instructions{asm.FnTimerSetCallback.Call()}, returns(0)...)}
	}
	var sizes []int
	for _, g := range newGroups(jobs, false) {
		sizes = append(sizes, len(g.tracks))
	}
	if !slices.Equal(sizes, []int{1, 1, 1, 2}) {
		t.Errorf("groups of %v benchmarks, want the second and the third alone", sizes)
	}
	if n := len(newGroups(jobs, true)); n != 1 {
		t.Errorf("%d groups in exact mode", n)
	}
}

// holding is a Progress that watches how many programs the kernel holds.
type holding struct {
	silent
	most, rounds int
}

func (h *holding) Round() {
	h.most = max(h.most, programsHeld())
	h.rounds++
}

func programsHeld() (n int) {
	for id, err := ebpf.ProgramGetNextID(0); err == nil; id, err = ebpf.ProgramGetNextID(id) {
		n++
	}
	return n
}

// A long suite holds few programs at once, and measures all of them.
func TestALongSuiteHoldsFewPrograms(t *testing.T) {
	testenv.Guest(t, "it loads programs by the hundred")
	testenv.Root(t)
	var h holding
	saves := 0
	run, err := Measure(t.Context(), &Plan{Jobs: manyJobs(250, 0)}, Options{Rounds: 2, Loads: 2, Progress: &h, Save: func(run *bench.Run) error {
		saves++
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if h.most > load.Most || h.most < 2 {
		t.Errorf("the kernel held %d programs at once, want at most %d", h.most, load.Most)
	}
	for _, r := range run.Results {
		if len(r.Rounds.RunCnt) != 2 || r.Error != "" {
			t.Errorf("%s: %d rounds: %s", r.Benchmark, len(r.Rounds.RunCnt), r.Error)
		}
	}
	if groups := len(newGroups(manyJobs(250, 0), false)); h.rounds != 2*groups || saves != groups || run.Partial || run.Loads != 2 {
		t.Errorf("%d rounds and %d saves of %d groups, partial %v, %d loads", h.rounds, saves, groups, run.Partial, run.Loads)
	}
}

const longSuite = "long-suite"

func init() {
	process.RegisterHelper(longSuite, func([]string) error {
		_, err := Measure(context.Background(), &Plan{Jobs: manyJobs(1500, 0)}, Options{Rounds: 2, Loads: 2})
		return err
	})
}

// However and whenever a long suite is killed, the kernel frees its programs, and still
// loads others.
func TestAKilledSuiteLeavesAKernelThatLoads(t *testing.T) {
	testenv.Guest(t, "it loads programs by the hundred")
	testenv.Long(t, "kills ten runs")
	testenv.Root(t)
	most := 0
	for i := range 10 {
		cmd := process.HelperCommand(longSuite)
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(time.Duration(i+1) * 300 * time.Millisecond); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			most = max(most, programsHeld())
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		loaded := make(chan error, 1)
		go func() {
			p, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.SchedCLS, Instructions: returns(0)})
			p.Close()
			loaded <- err
		}()
		select {
		case err := <-loaded:
			if err != nil {
				t.Fatal(err)
			}
		case <-time.After(time.Minute):
			t.Fatalf("the kernel loads no program any more after kill %d", i)
		}
	}
	if most > load.Most || most < mostGrouped/besideProgram/2 {
		t.Errorf("the kernel held %d programs at once, want at most %d, and many", most, load.Most)
	}
	t.Logf("the kernel held %d programs at once", most)
}
