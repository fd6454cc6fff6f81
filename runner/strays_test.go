package runner

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/internal/thread"
	"github.com/org/ebpf-bench-action/runner/internal/count"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
	"github.com/org/ebpf-bench-action/runner/internal/plan/plantest"
	"github.com/org/ebpf-bench-action/runner/internal/progrun"
)

// marksLater returns a job of a program that marks each packet after this many, and returns
// early if the run before left it the mark.
func marksLater(t *testing.T, after int32, run bench.TestRun) *Job {
	t.Helper()
	const mark = 8
	j := plantest.Job(t, &ebpf.ProgramSpec{Type: ebpf.SchedCLS, Instructions: asm.Instructions{
		asm.LoadMem(asm.R2, asm.R1, mark, asm.Word),
		asm.JEq.Imm(asm.R2, 7, "out"),
		asm.LoadMapValue(asm.R7, 0, 0).WithReference("state"),
		asm.LoadMem(asm.R2, asm.R7, 0, asm.DWord), asm.Add.Imm(asm.R2, 1), asm.StoreMem(asm.R7, 0, asm.R2, asm.DWord),
		asm.JLT.Imm(asm.R2, after, "out"),
		asm.StoreImm(asm.R1, mark, 7, asm.Word),
		asm.Mov.Imm(asm.R0, 0).WithSymbol("out"),
		asm.Return(),
	}}, bench.Benchmark{TestRun: &run})
	j.Spec.Maps["state"] = &ebpf.MapSpec{Name: "state", Type: ebpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: 1}
	return j
}

// Runs that share calls are measured anew with calls of their own, as is their floor, once one
// leaves its input otherwise than those did that showed that they may share calls.
func TestRunsThatDependLater(t *testing.T) {
	testenv.Plain(t)
	testenv.Host(t, "more runs than exact mode has in a load")
	late := marksLater(t, 250_000, bench.TestRun{Repeat: 50_000})
	if on := count.Study(t.Context(), late)[0].Fresh; on != "" {
		t.Fatalf("its first runs depend on %s", on)
	}
	r := measureJob(t, late) // in 8 rounds, and those that precede them
	if r.Fresh != driver.OnContext || len(r.Rounds.RunCnt) != 8 || len(r.Floor.RunCnt) != 8 || r.Error != "" {
		t.Errorf("depends on %q, %d rounds, %d of the floor: %s", r.Fresh, len(r.Rounds.RunCnt), len(r.Floor.RunCnt), r.Error)
	}
	if fresh := late.WithFresh(driver.OnContext); newFloor(floorOf(fresh), fresh).job.Fresh == "" {
		t.Error("its floor shares calls")
	}
	same := marksLater(t, 1<<30, bench.TestRun{})
	other := *same
	other.Left = []progrun.Left{{Data: []byte("once something else")}}
	for _, job := range []PairJob{{Base: same, Head: &other}, {Base: &other, Head: same}} {
		err := thread.Own(func() error {
			env, err := driver.NewEnvironment(false)
			if err != nil {
				return err
			}
			defer env.Close()
			o := &Options{Budget: 100 * time.Millisecond, Progress: silent{}}
			p, err := comparePair(t.Context(), env, job, o, rand.New(rand.NewPCG(1, 1)))
			if err != nil {
				return err
			}
			for _, r := range []*bench.Result{p.Base, p.Head, p.Again} {
				if r.Fresh != driver.OnPacket || len(r.Rounds.RunCnt) < minPairLoads || r.Error != "" {
					t.Errorf("depends on %q, %d rounds: %s", r.Fresh, len(r.Rounds.RunCnt), r.Error)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
