package runner

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/programs/empty"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
	"github.com/org/ebpf-bench-action/runner/internal/subject"
)

const workSuite = "version: 1\nobjects: [fun_xdp/fun_xdp_bpfel.o, work/work_bpfel.o]\nbenchmarks:" + `
  - {name: basic, program: fun_xdp_basic, test_run: {packets: [{ipv4: {src: 10.0.0.252-10.0.0.255}, udp: {}, size: 64}]}}
  - {name: work/0, program: work_xdp, test_run: {}, globals: {STEPS: 0}}
  - {name: work/50, program: work_xdp, test_run: {}, globals: {STEPS: 50}}
  - {name: work/200, program: work_xdp, test_run: {}, globals: {STEPS: 200}}
`

// BenchmarkThroughput measures programs that fill no map which is emptied between
// slices, and reports which share of the measuring phase the kernel spent running
// them: 100% is the speed of one uninterrupted test_run of a million repeats.
func BenchmarkThroughput(b *testing.B) {
	testenv.Root(b)
	plan := planOf(b, workSuite)
	alone := map[string]time.Duration{}
	for _, j := range plan.Jobs {
		alone[j.Name] = uninterrupted(b, j)
	}
	alone["floor"] = uninterrupted(b, newFloor(floorOf(plan.Jobs[0]), plan.Jobs[0]).job)
	for b.Loop() {
		run, err := Measure(context.Background(), plan, Options{Rounds: 2000, Loads: 4})
		if err != nil {
			b.Fatal(err)
		}
		var ideal time.Duration
		var runs uint64
		floors := uint64(0)
		for _, r := range run.Results {
			ideal += time.Duration(r.Rounds.Runs()) * alone[r.Benchmark] / million
			runs += r.Rounds.Runs()
			floors = max(floors, r.Floor.Runs())
		}
		ideal += time.Duration(floors) * alone["floor"] / million
		b.ReportMetric(100*ideal.Seconds()/run.Measuring, "%-of-uninterrupted")
		b.ReportMetric(float64(runs+floors)/run.Measuring/1e6, "Mruns/s")
		b.ReportMetric(run.Elapsed-run.Measuring, "s-beside-measuring")
	}
}

const million = 1_000_000

// uninterrupted returns the wall time per run of a million runs in one call,
// with statistics on and the program held as in a measurement.
func uninterrupted(b *testing.B, j *Job) (mean time.Duration) {
	done := make(chan error)
	go func() {
		done <- onLockedThread(func(env *driver.Environment) error {
			stats, err := driver.EnableStats()
			if err != nil {
				return err
			}
			defer stats.Close()
			s, err := subject.Open(b.Context(), env, j)
			if err != nil {
				return err
			}
			defer s.Close()
			// The mean over the packets, each at its best of three calls.
			for _, frame := range j.Frames {
				fastest := time.Hour
				for range 3 {
					began := time.Now()
					if _, err := s.Program.Run(&ebpf.RunOptions{Data: frame, Repeat: million}); err != nil {
						return err
					}
					fastest = min(fastest, time.Since(began))
				}
				mean += fastest / time.Duration(len(j.Frames))
			}
			return nil
		})
	}()
	if err := <-done; err != nil {
		b.Fatal(err)
	}
	return mean
}

// BenchmarkSlice measures one round of one benchmark: 2,000 runs of an almost
// empty program and everything around them.
func BenchmarkSlice(b *testing.B) {
	testenv.Root(b)
	plan := planOf(b, objects+"  - {name: a, program: fun_xdp_fizz, test_run: {packets: [{ipv4: {src: 10.0.0.1}, udp: {}, size: 64}]}}\n")
	done := make(chan error)
	go func() {
		done <- onLockedThread(func(env *driver.Environment) error {
			s, err := subject.Open(b.Context(), env, plan.Jobs[0])
			if err != nil {
				return err
			}
			defer s.Close()
			for b.Loop() {
				if _, err := s.Slice(b.Context()); err != nil {
					return err
				}
			}
			return nil
		})
	}()
	if err := <-done; err != nil {
		b.Fatal(err)
	}
}

func TestBenchOfNoProgram(t *testing.T) {
	testenv.Root(t)
	if r := testing.Benchmark(func(b *testing.B) { Bench(b, nil) }); r.N != 0 {
		t.Errorf("no program was run %d times", r.N)
	}
}

// Each run of Bench finds the packet and the context as they were given. Types of
// which a call makes one run are no exception.
func TestBenchGivesEachRunItsInput(t *testing.T) {
	testenv.Root(t)
	stats, err := driver.EnableStats()
	if err != nil {
		t.Fatal(err)
	}
	defer stats.Close()
	unmarked, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer unmarked.Close()
	const mark = 8 // of struct __sk_buff
	for typ, c := range map[ebpf.ProgramType]struct {
		insns asm.Instructions
		input ebpf.RunOptions
	}{
		ebpf.SchedCLS: {asm.Instructions{
			asm.LoadMem(asm.R2, asm.R1, mark, asm.Word),
			asm.JNE.Imm(asm.R2, 0, "out"),
			asm.StoreImm(asm.R1, mark, 7, asm.Word),
			asm.LoadMapValue(asm.R1, unmarked.FD(), 0),
			asm.Mov.Imm(asm.R2, 1),
			asm.StoreXAdd(asm.R1, asm.R2, asm.DWord),
			asm.Mov.Imm(asm.R0, 0).WithSymbol("out"),
			asm.Return(),
		}, ebpf.RunOptions{Data: make([]byte, 64)}},
		ebpf.RawTracepoint: {asm.Instructions{
			asm.LoadMapValue(asm.R1, unmarked.FD(), 0),
			asm.Mov.Imm(asm.R2, 1),
			asm.StoreXAdd(asm.R1, asm.R2, asm.DWord),
			asm.Mov.Imm(asm.R0, 0),
			asm.Return(),
		}, ebpf.RunOptions{Context: [2]uint64{}}},
	} {
		program, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: typ, License: "GPL", Instructions: c.insns})
		if err != nil {
			t.Fatal(err)
		}
		defer program.Close()
		if err := unmarked.Put(uint32(0), uint64(0)); err != nil {
			t.Fatal(err)
		}
		p := &benched{program: program, input: c.input}
		if _, err := p.cost(program, 100); err != nil {
			t.Fatalf("%v: %v", typ, err)
		}
		var n uint64
		if err := unmarked.Lookup(uint32(0), &n); err != nil || n != 100 {
			t.Errorf("%v: %d of 100 runs found their input, %v", typ, n, err)
		}
	}
}

func TestBenchSaysWhatIsMissing(t *testing.T) {
	testenv.Root(t)
	spec, err := empty.Like(&ebpf.ProgramSpec{Type: ebpf.XDP})
	if err != nil {
		t.Fatal(err)
	}
	program, err := ebpf.NewProgram(spec)
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	p := &benched{name: "a"}
	_, noSpec := p.count()
	for want, err := range map[string]error{
		`the spec has no program "a"`: noSpec,
		"runner.Frame":                p.explain(program, unix.EINVAL),
		"runner.Measure":              p.explain(program, ebpf.ErrNotSupported),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
