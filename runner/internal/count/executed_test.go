package count

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/insn"
	"github.com/org/ebpf-bench-action/internal/pmu"
	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/internal/workload/process"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
	_ "github.com/org/ebpf-bench-action/runner/internal/driver/all"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
	"github.com/org/ebpf-bench-action/runner/internal/plan/plantest"
	"github.com/org/ebpf-bench-action/runner/internal/subject"
)

// A warning says that runs depend on chance, and names what they ask.
func TestBPFInsnsByChance(t *testing.T) {
	testenv.Root(t)
	// Each of seven bits decides on so many instructions that no sum of them
	// equals another.
	insns := asm.Instructions{asm.FnGetPrandomU32.Call(), asm.Mov.Reg(asm.R1, asm.R0), asm.Mov.Imm(asm.R0, 1)}
	for bit := range 7 {
		next := fmt.Sprintf("after%d", bit)
		insns = append(insns, asm.JSet.Imm(asm.R1, 1<<bit, next))
		for range 1 << bit {
			insns = append(insns, asm.Mov.Imm(asm.R0, 1))
		}
		insns = append(insns, asm.Mov.Imm(asm.R0, 2).WithSymbol(next))
	}
	job := plantest.Made(t, "test_run: {packets: [{ipv4: {src: 10.0.0.0-10.0.0.31}, udp: {}}]}", append(insns, asm.Return()))
	e, err := Count(t.Context(), job, nil, Like{})
	if err != nil {
		t.Fatal(err)
	}
	s := e.Sample()
	if len(s.Values) != 3 || !slices.IsSorted(s.Values) || s.Values[0] == s.Values[1] || s.Values[1] == s.Values[2] {
		t.Errorf("values %v, want the fewest, the mean and the most", s.Values)
	}
	if want := e.perRun(e.total.Total()); s.Values[1] != want {
		t.Errorf("the center of %v is not the mean, %v", s.Values, want)
	}
	if w := e.Warning(); !strings.Contains(w, "are just a mean: runs with the same input execute from") || !strings.Contains(w, "get_prandom_u32") {
		t.Errorf("warning %q", w)
	}
}

// Other CPUs execute a program while its counters are read.
func TestCountsOfABusyHook(t *testing.T) {
	testenv.Root(t)
	job := plantest.Of(t, "version: 1\nobjects: [work/work_bpfel.o]\nbenchmarks:\n  - {name: a, program: work_raw_tp, command: {load: syscalls}}\n").Jobs[0]
	ctx, stop := context.WithCancel(t.Context())
	var calls sync.WaitGroup
	calls.Go(func() {
		for ctx.Err() == nil {
			_ = os.Getppid()
		}
	})
	defer calls.Wait()
	defer stop()
	for range 4 {
		e, err := Count(t.Context(), job, nil, Like{})
		if err != nil {
			t.Fatal(err)
		}
		if values := e.Sample().Values; len(values) != 1 {
			t.Errorf("a run always executes the same, and was counted as %v", values)
		}
	}
}

// A load that gets no CPU while its event's window is open is waited for.
func TestCountingWaitsForAnEvent(t *testing.T) {
	testenv.Root(t)
	// Such a window is over long before the first sample.
	job := plantest.Of(t, plantest.Objects+"  - {name: a, program: profile, perf_event: {window: 1us}}\n").Jobs[0]
	e, err := Count(t.Context(), job, nil, Like{})
	if err != nil || e.runs() == 0 {
		t.Fatalf("counted %v, error %v", e, err)
	}
	idle := plantest.Of(t, plantest.Objects+"  - {name: a, program: profile, perf_event: {window: 1us, event: cpu-migrations, period: 1000000}}\n").Jobs[0]
	if _, err := Count(t.Context(), idle, nil, Like{}); err == nil || bench.Hint(err) == "" {
		t.Errorf("an event that never fires: error %v, hint %q", err, bench.Hint(err))
	}
}

// tailCall calls the program at an index of a map.
func tailCall(index int32) asm.Instructions {
	return asm.Instructions{
		asm.Mov.Reg(asm.R1, asm.R6), asm.LoadMapPtr(asm.R2, 0).WithReference("jumps"), asm.Mov.Imm(asm.R3, index), asm.FnTailCall.Call(),
	}
}

var pass2 = asm.Instructions{asm.Mov.Imm(asm.R0, 2), asm.Return()}

// A program that is entered again by a tail call, from itself or another
// program, is still in the same run.
func TestBPFInsnsOfTailCalls(t *testing.T) {
	testenv.Root(t)
	context := asm.Mov.Reg(asm.R6, asm.R1)
	begin := asm.Instructions{context}
	unless, out := asm.Instructions{asm.JEq.Imm(asm.R6, 0, "out")}, slices.Clone(pass2)
	out[0] = out[0].WithSymbol("out")
	computed := slices.Concat(asm.Instructions{asm.Mov.Imm(asm.R7, 2)}, tailCall(0))
	computed[3] = asm.Mov.Reg(asm.R3, asm.R7)
	for _, c := range []struct {
		name        string
		made, other asm.Instructions
		want        float64
		note        string
	}{
		// 33 tail calls happen, the next one fails.
		{"to itself", slices.Concat(begin, tailCall(0), pass2), nil, 34*5 + 2, "there were 33 in this run"},
		{"to another and back", slices.Concat(begin, tailCall(1), pass2), slices.Concat(begin, tailCall(0), pass2), 34*5 + 2, "there were 33 in this run"},
		{"to nothing", slices.Concat(begin, tailCall(2), pass2), nil, 5 + 2, "index 2 of jumps is empty"},
		{"to no index", slices.Concat(begin, tailCall(9), pass2), nil, 5 + 2, "jumps has no index 9"},
		{"to another", slices.Concat(begin, tailCall(1), pass2), pass2, 5 + 2, ""},
		// A jump leads behind the call, too.
		{"if at all, to nothing", slices.Concat(begin, unless, tailCall(2), out), nil, 6 + 2, "index 2 of jumps is empty"},
		{"if at all, to another", slices.Concat(begin, unless, tailCall(1), out), pass2, 6 + 2, ""},
		{"if at all, to what is computed", slices.Concat(begin, unless, computed, out), nil, 7 + 2, "jumps has no program at its index, or there were 33"},
	} {
		job := plantest.Made(t, "test_run: {packets: [{ipv4: {}, udp: {}}, {ipv4: {}, tcp: {}}]}", c.made)
		jumps := &ebpf.MapSpec{Name: "jumps", Type: ebpf.ProgramArray, KeySize: 4, ValueSize: 4, MaxEntries: 4, Contents: []ebpf.MapKV{{Key: uint32(0), Value: "made"}}}
		if c.other != nil {
			job.Spec.Programs["other"] = &ebpf.ProgramSpec{Name: "other", Type: ebpf.XDP, Instructions: c.other, License: "GPL"}
			jumps.Contents = append(jumps.Contents, ebpf.MapKV{Key: uint32(1), Value: "other"})
		}
		job.Spec.Maps["jumps"] = jumps
		e, err := Count(t.Context(), job, nil, Like{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if s := e.Sample(); len(s.Values) != 1 || s.Values[0] != c.want || e.runs() != 2*leastPasses {
			t.Errorf("%s: %v in %d runs, want %v in %d", c.name, s.Values, e.runs(), c.want, 2*leastPasses)
		}
		notes := ""
		lines, _ := joinLines(nil, e)
		for _, l := range lines {
			notes += strings.Join(l.Head.Notes, "; ")
		}
		if (c.note == "") != (notes == "") || !strings.Contains(notes, c.note) {
			t.Errorf("%s: notes %q, want %q", c.name, notes, c.note)
		}
	}
}

// counting returns a program that does something in each nth run.
func counting(n int32, dear int) asm.Instructions {
	insns := asm.Instructions{
		asm.LoadMapValue(asm.R1, 0, 0).WithReference("state"), asm.LoadMem(asm.R2, asm.R1, 0, asm.DWord),
		asm.Mov.Reg(asm.R3, asm.R2), asm.Add.Imm(asm.R3, 1), asm.StoreMem(asm.R1, 0, asm.R3, asm.DWord),
		asm.Mod.Imm(asm.R2, n), asm.JNE.Imm(asm.R2, 0, "out"),
	}
	for range dear {
		insns = append(insns, asm.Mov.Imm(asm.R0, 1))
	}
	return append(insns, asm.Mov.Imm(asm.R0, 2).WithSymbol("out"), asm.Return())
}

// The mean includes what happens in one of many runs. What happens only in the
// first run is not included but marked as reached.
func TestBPFInsnsOfState(t *testing.T) {
	testenv.Root(t)
	const always = 9
	for _, c := range []struct {
		name  string
		n     int32
		want  []float64 // fewest, mean, most
		first bool
	}{
		{"each hundredth", 100, []float64{always, always + 400*2./256, always + 400}, false},
		{"the first", 1 << 30, []float64{always}, true},
		{"each", 1, []float64{always + 400}, false},
	} {
		job := plantest.Made(t, "test_run: {packets: [{ipv4: {}, udp: {}}]}", counting(c.n, 400))
		job.Spec.Maps["state"] = &ebpf.MapSpec{Name: "state", Type: ebpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: 1}
		e, err := Count(t.Context(), job, nil, Like{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if s := e.Sample(); !slices.Equal(s.Values, c.want) || e.runs() != mostPasses {
			t.Errorf("%s: %v in %d runs, want %v in %d", c.name, s.Values, e.runs(), c.want, mostPasses)
		}
		if opening := e.Opening(); (opening != nil) != c.first || c.first && !slices.Equal(opening.Values, []float64{always + 400}) {
			t.Errorf("%s: the first run %+v", c.name, opening)
		}
		lines, _ := joinLines(nil, e)
		first := slices.ContainsFunc(lines, func(l bench.Line) bool { return l.Head.FirstOnly })
		if first != c.first || (e.explained().Spread != nil) != (len(c.want) > 1) {
			t.Errorf("%s: lines of the first run alone: %t; spread %v", c.name, first, e.explained().Spread)
		}
	}
}

// A program compared with itself is not an improvement, whatever chance did.
func TestBPFInsnsByChanceDoNotGate(t *testing.T) {
	testenv.Root(t)
	insns := asm.Instructions{asm.FnGetPrandomU32.Call(), asm.JSet.Imm(asm.R0, 1, "out")}
	for range 200 {
		insns = append(insns, asm.Mov.Imm(asm.R0, 1))
	}
	job := plantest.Made(t, "test_run: {packets: [{ipv4: {}, udp: {}}]}", append(insns, asm.Mov.Imm(asm.R0, 2).WithSymbol("out"), asm.Return()))
	for range 6 {
		x := Explain(context.Background(), plan.PairJob{Base: job, Head: job}, false)
		if x.Error != "" || !bench.Overlap(&x.Base.Executed, &x.Head.Executed) {
			t.Fatalf("%s: base %+v, head %+v", x.Error, x.Base, x.Head)
		}
		if mean := x.Head.PerRun; mean < 64 || mean > 144 {
			t.Errorf("a mean of %v, where the true one is 104", mean)
		}
	}
}

// Cancelling must not wait for 256 passes, nor for the other side.
func TestCountingEndsWithItsContext(t *testing.T) {
	testenv.Root(t)
	ctx, cancel := context.WithCancel(t.Context())
	job := plantest.Made(t, "test_run: {packets: [{ipv4: {}, udp: {}}]}", asm.Instructions{asm.FnGetPrandomU32.Call(), asm.Return()})
	e := &Executed{job: job}
	spec := job.Spec.Copy()
	var err error
	if e.table, err = insn.Instrument(spec, insn.Options{}); err != nil {
		t.Fatal(err)
	}
	s, err := subject.OpenSpec(t.Context(), &driver.Environment{Exact: true, Counters: &pmu.Counters{}, Window: driver.ExactWindow}, job, spec)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	drives := &ending{Driver: s.Driver, after: 3, end: cancel}
	s.Driver = drives
	read, closeReader, err := e.reader(s)
	if err != nil {
		t.Fatal(err)
	}
	defer closeReader()
	if err := e.count(ctx, s, read); !errors.Is(err, context.Canceled) || drives.after != 0 {
		t.Errorf("error %v, %d slices before the end", err, drives.after)
	}
	if _, err := countSide(ctx, job, true); !errors.Is(err, context.Canceled) {
		t.Errorf("the other side: error %v", err)
	}
}

// ending is a driver that calls end in its nth slice.
type ending struct {
	driver.Driver
	after int
	end   func()
}

func (d *ending) Drive(ctx context.Context) (driver.Driven, error) {
	if d.after--; d.after == 0 {
		d.end()
	}
	return d.Driver.Drive(ctx)
}

// An object without debug information gets blocks, and a hint how to get lines.
func TestExplainWithoutLines(t *testing.T) {
	testenv.Root(t)
	job := plantest.Made(t, "test_run: {packets: [{ipv4: {}, udp: {}}]}", counting(2, 10))
	job.Spec.Maps["state"] = &ebpf.MapSpec{Name: "state", Type: ebpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: 1}
	e := Explain(context.Background(), plan.PairJob{Head: job}, true)
	if e.Error != "" || len(e.Lines) != 3 || !strings.Contains(strings.Join(e.Warnings, " "), "compile it with -g") {
		t.Fatalf("%s: %d lines, warnings %q", e.Error, len(e.Lines), e.Warnings)
	}
	// The first load takes two slots.
	for i, want := range [][2]int{{0, 7}, {8, 17}, {18, 19}} {
		if l := e.Lines[i]; l.InFunction != want[0] || l.InFunctionEnd != want[1] || l.Head.Code[0].Offset != want[0] {
			t.Errorf("block %d is from %d to %d, its first instruction is %d: want %v", i, l.InFunction, l.InFunctionEnd, l.Head.Code[0].Offset, want)
		}
	}
	if half := e.Lines[1].Head; half.PerRun != 5 || half.Spread == nil || *half.Spread != (bench.Spread{Least: 0, Most: 10}) {
		t.Errorf("what each second run executes: %+v", half)
	}
}

func TestMain(m *testing.M) {
	process.RunHelper()
	os.Exit(m.Run())
}
