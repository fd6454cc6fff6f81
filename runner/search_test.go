package runner

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/runner/internal/plan/plantest"
)

// A search by runs finds the same each time: first what the benchmark gives, then what
// costs most with the line that is to blame, each as a benchmark of it would count.
func TestSearch(t *testing.T) {
	testenv.Probe(t, "test_run xdp")
	s := plantest.Suite(t, objects+"  - {name: slow, program: fun_xdp_fibonacci_slow, test_run: {}}\n  - {name: basic, program: fun_xdp_basic, test_run: {}}\n")
	all, err := PlanSearches(s)
	if err != nil {
		t.Fatal(err)
	}
	saved := 0
	find := func() *bench.Search {
		f, err := Search(t.Context(), all.Jobs, Options{}, SearchOptions{Runs: 2000, Seed: 7, Timed: 1, Save: func(s *bench.Search) { saved += len(s.Programs) }})
		if err != nil || f.Partial {
			t.Fatal(err, f.Partial)
		}
		for i := range f.Programs {
			f.Programs[i].Elapsed = 0
			for j := range f.Programs[i].Inputs {
				in := &f.Programs[i].Inputs[j]
				if timed := in.Cost != nil && len(in.Cost.Values) > 0; timed != (j < 2) {
					t.Errorf("input %s of %s is timed: %v", in.Name, f.Programs[i].Program, timed)
				}
				in.Cost = nil
			}
		}
		return f
	}
	found := find()
	slow, basic := found.Programs[0], found.Programs[1]
	if slow.Tried != 2000 || slow.Error != "" || slow.ObjectSHA256 == "" || *slow.Blocks.Alive < slow.Blocks.Reached || slow.Blocks.Reached <= slow.Blocks.Default {
		t.Errorf("found %+v", slow)
	}
	normal, worst := slow.Inputs[0], slow.Inputs[1]
	if normal.Name != bench.InputDefault || normal.PerRun != 65 || worst.Name != bench.InputWorst || worst.PerRun != 1398 || worst.Dearest == nil || worst.Dearest.File != "fun_xdp.c" {
		t.Errorf("the inputs are %+v and %+v", normal, worst)
	}
	if !slices.Equal(worst.Retvals, []uint32{2}) || len(worst.Packets) != 1 || worst.New == 0 || len(worst.Lines) == 0 || worst.Fresh {
		t.Errorf("the worst input is %+v", worst)
	}
	if one := basic.Inputs[0]; !one.Fresh || one.PerRun != 32 {
		t.Errorf("the first run of each source adds an entry, and the input is %+v", one)
	}
	if again := find(); !reflect.DeepEqual(again.Programs, found.Programs) || saved != 2*(1+2) {
		t.Errorf("the second time found %+v, after %d saved", again.Programs, saved)
	}
}

// A search that is interrupted has what it found until then.
func TestSearchIsInterrupted(t *testing.T) {
	testenv.Probe(t, "test_run xdp")
	s := plantest.Suite(t, objects+"  - {name: slow, program: fun_xdp_fibonacci_slow, test_run: {}}\n  - {name: basic, program: fun_xdp_basic, test_run: {}}\n")
	all, err := PlanSearches(s)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	found, err := Search(ctx, all.Jobs, Options{}, SearchOptions{Time: time.Hour, Seed: 1, Progress: func(p SearchProgress) {
		if p.Tried > 2000 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || found == nil || !found.Partial || len(found.Programs) != 1 {
		t.Fatalf("found %+v, %v", found, err)
	}
	if in := found.Programs[0].Inputs; len(in) < 2 || in[1].PerRun != 1398 {
		t.Errorf("the inputs are %+v", in)
	}
}

// What no search can find is said.
func TestSearchSaysWhatItCannot(t *testing.T) {
	testenv.Probe(t, "test_run skb")
	for _, c := range []struct {
		name string
		asm.Instructions
		want string
	}{
		{"chance", asm.Instructions{
			asm.FnGetPrandomU32.Call(),
			asm.JGT.Imm32(asm.R0, 1<<30, "out"),
			asm.Mov.Imm(asm.R0, 1),
			asm.Mov.Imm(asm.R0, 0).WithSymbol("out"), asm.Return(),
		}, "time or chance"},
		// It sends each packet to the interface that the search chooses.
		{"sends", asm.Instructions{
			asm.Mov.Imm(asm.R2, 1), asm.Mov.Imm(asm.R3, 0),
			asm.FnCloneRedirect.Call(), asm.Return(),
		}, ""},
	} {
		j := plantest.Job(t, &ebpf.ProgramSpec{Type: ebpf.SchedCLS, Instructions: c.Instructions}, bench.Benchmark{TestRun: &bench.TestRun{}})
		found, err := Search(t.Context(), []SearchJob{{Job: j}}, Options{}, SearchOptions{Runs: 2000, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		p := found.Programs[0]
		if w := strings.Join(p.Warnings, "\n"); p.Error != "" || !strings.Contains(w, c.want) || (len(p.Inputs) == 0) != (c.want != "") {
			t.Errorf("%s: %+v", c.name, p)
		}
		if c.name == "sends" && p.Inputs[0].Retvals[0] == 0 {
			t.Error("a packet was sent, though the only interface of a new network is down")
		}
	}
}
