package runner

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/programs/empty"
	"github.com/org/ebpf-bench-action/runner/internal/drive"
)

const xdpSuite = objects + `
  - {name: basic, program: fun_xdp_basic, test_run: {packets: &p [{ipv4: {src: 10.0.0.252-10.0.0.255}, udp: {}, size: 64}]}}
  - {name: fizz, program: fun_xdp_fizz, test_run: {packets: *p}}
  - {name: fizzbuzz, program: fun_xdp_fizzbuzz, test_run: {packets: *p}}
  - {name: fibonacci_slow, program: fun_xdp_fibonacci_slow, test_run: {packets: *p}}
  - {name: fibonacci, program: fun_xdp_fibonacci, test_run: {packets: *p}}
`

// BenchmarkThroughput measures the bundled XDP suite and reports which share of
// the measuring phase the kernel spent running programs: 100% is the speed of
// one uninterrupted test_run of a million repeats of the same programs.
func BenchmarkThroughput(b *testing.B) {
	testenv.Root(b)
	plan := planOf(b, xdpSuite)
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
		done <- onLockedThread(func(env *drive.Environment) error {
			stats, err := drive.EnableStats()
			if err != nil {
				return err
			}
			defer stats.Close()
			s, err := drive.Open(b.Context(), env, j)
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
		done <- onLockedThread(func(env *drive.Environment) error {
			s, err := drive.Open(b.Context(), env, plan.Jobs[0])
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
