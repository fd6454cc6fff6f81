package runner

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/rlimit"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/insn"
	"github.com/org/ebpf-bench-action/internal/testenv"
)

// What a run executes does not depend on what drives it, nor on the kernel: a
// packet is counted as one however it arrives.
func TestBPFInsns(t *testing.T) {
	run := measure(t, objects+`
  - {name: test_run, program: fun_xdp_fibonacci_slow, test_run: {packets: [{ipv4: {src: 10.0.0.252}, udp: {}}]}}
  - {name: native, program: fun_xdp_fibonacci_slow, veth: {count: 100, packets: [{ipv4: {src: 10.0.0.252}, udp: {}}]}}
  - {name: generic, program: fun_xdp_fibonacci_slow, veth: {count: 100, mode: generic, packets: [{ipv4: {src: 10.0.0.252}, udp: {}}]}}
  - {name: af_packet, program: fun_xdp_fibonacci_slow, veth: {count: 100, sender: af_packet, packets: [{ipv4: {src: 10.0.0.252}, udp: {}}]}}
  - {name: profile, program: profile, perf_event: {window: 10ms}}
  - {name: loaded, program: profile, verify: {}}
`, Options{Rounds: 2, Loads: 2, Seed: 1})
	var counts []float64
	for i, r := range run.Results {
		s := r.Sample(bench.BPFInsns.Name)
		switch {
		case r.Driver == "verify":
			if s != nil {
				t.Errorf("%s: %v, but nothing runs", r.Benchmark, s.Values)
			}
			continue
		case s == nil || len(s.Values) != 1 || s.Values[0] <= 0:
			t.Errorf("%s: bpf-insns %+v, want one value; warnings %q", r.Benchmark, s, r.Warnings)
			continue
		}
		if i < 4 {
			counts = append(counts, s.Values[0])
		}
	}
	if len(counts) != 4 || slices.Min(counts) != slices.Max(counts) {
		t.Errorf("test_run and veth count %v, want the same", counts)
	}
}

// The counters count as many runs as the kernel does, of traffic that comes from
// outside too.
func TestCountedRunsAreThoseOfTheKernel(t *testing.T) {
	testenv.Root(t)
	if err := rlimit.RemoveMemlock(); err != nil {
		t.Fatal(err)
	}
	for _, driver := range []string{"test_run: {}", "veth: {count: 1000}", "veth: {count: 1000, mode: generic}", "perf_event: {window: 20ms}"} {
		program := "fun_xdp_fibonacci"
		if strings.HasPrefix(driver, "perf_event") {
			program = "profile"
		}
		job := planOf(t, objects+"  - {name: a, program: "+program+", "+driver+"}\n").Jobs[0]
		onThread(t, func(env *environment) {
			stats, err := enableStats()
			if err != nil {
				t.Fatal(err)
			}
			defer stats.Close()
			spec := job.Spec.Copy()
			table, err := insn.Instrument(spec, insn.Options{})
			if err != nil {
				t.Fatal(err)
			}
			s, err := openSpec(env, job, spec)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			for range 3 {
				if err := s.drive(); err != nil {
					t.Fatal(err)
				}
			}
			kernel, err := readCounters(s.program)
			if err != nil {
				t.Fatal(err)
			}
			counts, err := table.Read(s.coll)
			if err != nil {
				t.Fatal(err)
			}
			if counted := counts.Runs(program); counted != kernel.runCnt || counted == 0 {
				t.Errorf("%s: counted %d runs, and the kernel %d", driver, counted, kernel.runCnt)
			}
		})
	}
}

// Runs that chance has a say in are told as such, with what they ask.
func TestBPFInsnsByChance(t *testing.T) {
	testenv.Root(t)
	// Each of seven bits decides on so many instructions that no sum of them is
	// another.
	insns := asm.Instructions{asm.FnGetPrandomU32.Call(), asm.Mov.Reg(asm.R1, asm.R0), asm.Mov.Imm(asm.R0, 1)}
	for bit := range 7 {
		next := fmt.Sprintf("after%d", bit)
		insns = append(insns, asm.JSet.Imm(asm.R1, 1<<bit, next))
		for range 1 << bit {
			insns = append(insns, asm.Mov.Imm(asm.R0, 1))
		}
		insns = append(insns, asm.Mov.Imm(asm.R0, 2).WithSymbol(next))
	}
	job := jobOf(t, "test_run: {packets: [{ipv4: {src: 10.0.0.0-10.0.0.31}, udp: {}}]}", append(insns, asm.Return()))
	e, err := countExecuted(job, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s := e.sample(); len(s.Values) != countPasses {
		t.Errorf("values %v, want one a pass", s.Values)
	}
	if w := e.warning(); !strings.Contains(w, "differ from slice to slice") || !strings.Contains(w, "get_prandom_u32") {
		t.Errorf("warning %q", w)
	}
}

// jobOf is a benchmark of a program without an object.
func jobOf(t *testing.T, driver string, insns asm.Instructions) *Job {
	t.Helper()
	plan := planOf(t, objects+"  - {name: a, program: fun_xdp_basic, "+driver+"}\n")
	job := *plan.Jobs[0]
	b := *job.Benchmark
	b.Program, job.Benchmark = "made", &b
	job.Spec = &ebpf.CollectionSpec{
		Maps:     map[string]*ebpf.MapSpec{},
		Programs: map[string]*ebpf.ProgramSpec{"made": {Name: "made", Type: ebpf.XDP, Instructions: insns, License: "GPL"}},
	}
	return &job
}

func TestComparedLines(t *testing.T) {
	testenv.Root(t)
	base := planOf(t, objects+"  - {name: a, program: fun_xdp_fibonacci, test_run: {packets: [{ipv4: {src: 10.0.0.252}, udp: {}}]}}\n")
	head := planOf(t, objects+"  - {name: a, program: fun_xdp_fibonacci_slow, test_run: {packets: [{ipv4: {src: 10.0.0.252}, udp: {}}]}}\n")
	for _, mode := range []bench.Mode{bench.ModeHost, bench.ModeExact} {
		c, err := Compare(context.Background(), []PairJob{{base.Jobs[0], head.Jobs[0]}}, Options{Budget: 1, Rounds: 2, Seed: 1, Mode: mode})
		if err != nil {
			t.Fatal(err)
		}
		checkFibonacciLines(t, c.Pairs[0].Lines)
	}
}

// checkFibonacciLines wants the lines of the loop first.
func checkFibonacciLines(t *testing.T, lines []bench.Line) {
	t.Helper()
	if len(lines) == 0 || len(lines) > bench.MaxLines {
		t.Fatalf("%d lines", len(lines))
	}
	var sum float64
	for i, l := range lines {
		sum += l.Delta()
		if l.Delta() == 0 || i > 0 && abs(l.Delta()) > abs(lines[i-1].Delta()) {
			t.Errorf("line %d is out of order: %+v", i, l)
		}
	}
	if first := lines[0]; first.Head == nil || first.Delta() < 100 || first.Number == 0 || !strings.HasSuffix(first.File, "fun_xdp.c") || first.Text == "" {
		t.Errorf("the first line is %+v, want one of the loop", first)
	}
}

func abs(v float64) float64 { return max(v, -v) }

func TestExplain(t *testing.T) {
	testenv.Root(t)
	base := planOf(t, objects+"  - {name: a, program: fun_xdp_fibonacci, test_run: {packets: [{ipv4: {src: 10.0.0.252}, udp: {}}]}}\n")
	head := planOf(t, objects+"  - {name: a, program: fun_xdp_fibonacci_slow, test_run: {packets: [{ipv4: {src: 10.0.0.252}, udp: {}}]}}\n")
	for _, c := range []struct {
		pair PairJob
		code bool
	}{{PairJob{base.Jobs[0], head.Jobs[0]}, false}, {PairJob{nil, head.Jobs[0]}, true}} {
		x, err := Explain(context.Background(), []PairJob{c.pair}, Options{}, c.code)
		if err != nil {
			t.Fatal(err)
		}
		e := x.Programs[0]
		if e.Error != "" || e.Head == nil || (e.Base == nil) != (c.pair.Base == nil) {
			t.Fatalf("explained %+v", e)
		}
		var perRun float64
		var instructions int
		for _, l := range e.Lines {
			if l.Head == nil {
				continue
			}
			perRun += l.Head.PerRun
			instructions += l.Head.Instructions
			if c.code != (len(l.Head.Code) > 0) || c.code && len(l.Head.Code) != l.Head.Instructions {
				t.Errorf("line %d has %d instructions and the code of %d", l.Number, l.Head.Instructions, len(l.Head.Code))
			}
			for _, code := range l.Head.Code {
				if code.Machine == nil || *code.Machine < 0 || *code.Machine > 200 {
					t.Errorf("instruction %d (%s): machine instructions %v", code.Offset, code.Text, code.Machine)
				}
			}
		}
		if abs(perRun-e.Head.PerRun) > 1e-3 || instructions != e.Head.Instructions {
			t.Errorf("the lines add up to %v of %v executed and %d of %d instructions", perRun, e.Head.PerRun, instructions, e.Head.Instructions)
		}
	}
}

func TestExplainWithoutADriver(t *testing.T) {
	testenv.Root(t)
	head := planOf(t, objects+"  - {name: a, program: profile, verify: {}}\n")
	x, err := Explain(context.Background(), []PairJob{{Head: head.Jobs[0]}}, Options{}, false)
	if err != nil {
		t.Fatal(err)
	}
	if e := x.Programs[0]; e.Error == "" || e.Hint == "" {
		t.Errorf("%+v: it runs nothing", e)
	}
}
