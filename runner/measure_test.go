package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/runner/internal/bpfmap"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
	"github.com/org/ebpf-bench-action/runner/internal/subject"
)

func measure(t *testing.T, text string, o Options) *bench.Run {
	t.Helper()
	testenv.Root(t)
	run, err := Measure(context.Background(), planOf(t, text), o)
	if err != nil {
		t.Fatal(err)
	}
	haveMeasures(t, run)
	return run
}

// haveMeasures fails the test if a result has a measure that its driver or the mode is said
// not to have: a threshold on it would be refused.
func haveMeasures(t *testing.T, run *bench.Run) {
	t.Helper()
	for _, r := range run.Results {
		for _, s := range r.Samples {
			if m := s.Measure.Name; !bench.CanMeasure(r.Driver, m) || !run.Testbed.Mode.Measures(m) {
				t.Errorf("%s: %s in %s mode is said not to measure %s", r.Benchmark, r.Driver, run.Testbed.Mode, m)
			}
		}
	}
}

func TestEveryDriverMeasures(t *testing.T) {
	run := measure(t, objects+`
  - {name: test_run, program: fun_xdp_fizz, test_run: {packets: [{ipv4: {src: 10.0.0.0-10.0.0.2}, udp: {}}]}}
  - {name: native, program: fun_xdp_basic, veth: {count: 1000}}
  - {name: generic, program: fun_xdp_basic, veth: {count: 1000, mode: generic}}
  - {name: af_packet, program: fun_xdp_basic, veth: {count: 1000, sender: af_packet}}
  - {name: profile, program: profile, perf_event: {window: 10ms}}
  - {name: everywhere, program: profile, perf_event: {window: 10ms, scope: all}}
`, Options{Rounds: 20, Loads: 2, Seed: 1})
	if run.Partial || run.Seed != 1 || run.Loads != 2 || len(run.Results) != 6 {
		t.Errorf("run %+v", run)
	}
	for _, r := range run.Results {
		if r.Error != "" {
			t.Errorf("%s: %s", r.Benchmark, r.Error)
			continue
		}
		if n := len(r.Rounds.RunCnt); n != 20 || len(r.Floor.RunCnt) != n {
			t.Errorf("%s: %d rounds with %d floors, want 20", r.Benchmark, n, len(r.Floor.RunCnt))
		}
		if !slices.Contains(r.Rounds.Load, 0) || !slices.Contains(r.Rounds.Load, 1) {
			t.Errorf("%s: not measured in both loads: %v", r.Benchmark, r.Rounds.Load)
		}
		for _, m := range []bench.Measure{bench.Latency, bench.LatencyRaw, bench.LatencyFloor} {
			if s := r.Sample(m.Name); s == nil || len(s.Values) == 0 {
				t.Errorf("%s: no %s", r.Benchmark, m.Name)
			}
		}
		// A busy kernel may defer the far end's work until its ring is full.
		if tr := r.Traffic; r.Driver == "veth" && (tr == nil || tr.Sent != 20_000 || tr.Run < 10_000 || tr.Run+tr.Dropped != tr.Sent || tr.Unaccounted != 0) {
			t.Errorf("%s: traffic %+v, want 20,000 packets sent, each run or counted as dropped", r.Benchmark, tr)
		}
	}
	// The share of each of three packets is rounded so that no run is lost.
	if r := run.Results[0]; r.Rounds.Runs() < 20*2000 || r.Retvals[2] != 60 {
		t.Errorf("test_run made %d runs and returned %v", r.Rounds.Runs(), r.Retvals)
	}
}

// The raw figure is what bpftool prints for the same program at the same
// moment.
func TestAgreesWithBpftool(t *testing.T) {
	testenv.Root(t)
	bpftool, err := exec.LookPath("bpftool")
	if err != nil {
		t.Fatalf("this test compares with bpftool: %v", err)
	}
	for _, by := range []string{"test_run: {}", "veth: {count: 5000}"} {
		plan := planOf(t, objects+"  - {name: a, program: fun_xdp_fibonacci_slow, "+by+"}\n")
		onThread(t, func(env *driver.Environment) {
			stats, err := driver.EnableStats()
			if err != nil {
				t.Fatal(err)
			}
			defer stats.Close()
			s, err := subject.Open(t.Context(), env, plan.Jobs[0])
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			var sum driver.Counters
			for range 50 {
				got, err := s.Slice(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				sum.RunTimeNS += got.RunTimeNS
				sum.RunCnt += got.RunCnt
			}
			info, err := s.Program.Info()
			if err != nil {
				t.Fatal(err)
			}
			id, _ := info.ID()
			out, err := exec.Command(bpftool, "-j", "prog", "show", "id", fmt.Sprint(id)).Output()
			if err != nil {
				t.Fatal(err)
			}
			var theirs struct {
				RunTimeNS float64 `json:"run_time_ns"`
				RunCnt    float64 `json:"run_cnt"`
			}
			if err := json.Unmarshal(out, &theirs); err != nil {
				t.Fatal(err)
			}
			ours, want := float64(sum.RunTimeNS)/float64(sum.RunCnt), theirs.RunTimeNS/theirs.RunCnt
			if math.Abs(ours/want-1) > 0.03 {
				t.Errorf("%s: %.2f ns a run, bpftool says %.2f", by, ours, want)
			}
			t.Logf("%s: %.2f ns a run, bpftool says %.2f", by, ours, want)
		})
	}
}

func TestSlowIsSlower(t *testing.T) {
	run := measure(t, objects+`
  - {name: slow, program: fun_xdp_fibonacci_slow, test_run: {packets: &p [{ipv4: {src: 10.0.0.254-10.0.0.255}, udp: {}}]}}
  - {name: fast, program: fun_xdp_fibonacci, test_run: {packets: *p}}
`, Options{Rounds: 100, Loads: 2})
	median := func(i int) float64 {
		v := slices.Sorted(slices.Values(run.Results[i].Sample("latency").Values))
		return v[len(v)/2]
	}
	if slow, fast := median(0), median(1); slow < 2*fast {
		t.Errorf("the planted regression costs %.1f ns, the fix %.1f ns", slow, fast)
	}
}

// A queue that fills up within a slice is empty again in the next one.
func TestMapsAreEmptiedBetweenSlices(t *testing.T) {
	testenv.Root(t)
	const packets = "test_run: {repeat: 800, packets: [{ipv4: {src: 10.0.0.254}, udp: {}}]}}\n"
	for _, c := range []struct {
		name, maps string
		dropped    uint64
	}{
		{"emptied", "", 0},
		{"left alone", "maps: {events: {reset: never}}, ", 3*800 - 1024},
	} {
		t.Run(c.name, func(t *testing.T) {
			plan := planOf(t, objects+"  - {name: a, program: fun_xdp_fizz, "+c.maps+packets)
			onThread(t, func(env *driver.Environment) {
				s, err := subject.Open(t.Context(), env, plan.Jobs[0])
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				for range 3 {
					if _, err := s.Slice(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				var perCPU []uint64
				if err := s.Coll.Maps["dropped"].Lookup(uint32(0), &perCPU); err != nil {
					t.Fatal(err)
				}
				var dropped uint64
				for _, n := range perCPU {
					dropped += n
				}
				if dropped != c.dropped {
					t.Errorf("%d events were dropped, want %d", dropped, c.dropped)
				}
			})
		})
	}
}

func TestRingBufferIsEmptiedBetweenSlices(t *testing.T) {
	testenv.Root(t)
	plan := planOf(t, objects+"  - {name: a, program: profile, perf_event: {window: 20ms}}\n")
	onThread(t, func(env *driver.Environment) {
		s, err := subject.Open(t.Context(), env, plan.Jobs[0])
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		ring := s.Emptiers[0].(interface {
			bpfmap.Emptier
			Pending() uint64
		})
		// On a busy machine the load may not run in a slice, and nothing is sampled.
		for range 1000 {
			if _, err := s.Slice(t.Context()); err != nil {
				t.Fatal(err)
			}
			if ring.Pending() > 0 {
				break
			}
		}
		if ring.Pending() == 0 {
			t.Fatal("slices of the profiler leave nothing in its ring buffer")
		}
		if err := ring.Empty(t.Context()); err != nil || ring.Pending() != 0 {
			t.Errorf("%d bytes are left, error %v", ring.Pending(), err)
		}
	})
}

// A slice that would overflow a queue is shortened until it does not.
func TestSlicesAreShortenedToWhatMapsHold(t *testing.T) {
	run := measure(t, objects+`
  - {name: a, program: fun_xdp_fizz, test_run: {repeat: 4000, packets: [{ipv4: {src: 10.0.0.254}, udp: {}}]}}
  - {name: b, program: fun_xdp_fizz, maps: {events: {reset: never}}, test_run: {repeat: 4000, packets: [{ipv4: {src: 10.0.0.254}, udp: {}}]}}
`, Options{Rounds: 20, Loads: 1})
	if n := run.Results[0].Rounds.RunCnt[0]; n != 1000 {
		t.Errorf("slices of %d runs push on a queue of 1024, want 1000", n)
	}
	if n := run.Results[1].Rounds.RunCnt[0]; n < 4000 {
		t.Errorf("slices of %d runs leave alone a queue that is never emptied, want 4000", n)
	}
}

// A slice of a slow program has fewer runs, and those of the others keep theirs.
func TestSlicesOfSlowProgramsAreShort(t *testing.T) {
	run := measure(t, `
version: 1
objects: [work/work_bpfel.o]
benchmarks:
  - {name: slow, program: work_xdp, test_run: {}, globals: {STEPS: 50000}}
  - {name: set, program: work_xdp, test_run: {repeat: 20}, globals: {STEPS: 50000}}
  - {name: fast, program: work_xdp, test_run: {}, globals: {STEPS: 1}}
`, Options{Rounds: 2, Loads: 2})
	for i, want := range []struct{ least, most uint64 }{{1, 1999}, {20, 20}, {2000, math.MaxUint64}} {
		r := run.Results[i]
		if n, floor := r.Rounds.RunCnt, r.Floor.RunCnt; n[0] < want.least || n[0] > want.most || n[1] != n[0] || i != 1 && floor[0] < 2000 {
			t.Errorf("%s: slices of %d runs, of the floor %d", r.Benchmark, n, floor)
		}
	}
}

// The same goes for a slice that is only counted: it gets the same length.
func TestExplainCountsWhatIsMeasured(t *testing.T) {
	const text = objects + `
  - {name: a, program: fun_xdp_fizz, test_run: {repeat: 4000, packets: [{ipv4: {src: 10.0.0.250-10.0.0.254}, udp: {}}]}}
`
	run := measure(t, text, Options{Rounds: 2, Loads: 1})
	want := run.Results[0].Sample(bench.BPFInsns.Name).Values
	e, err := Explain(t.Context(), []PairJob{{Head: planOf(t, text).Jobs[0]}}, Options{}, false)
	if err != nil {
		t.Fatal(err)
	}
	if got := e.Programs[0].Head.Executed; len(want) != 1 || got.PerRun != want[0] || got.Spread != nil {
		t.Errorf("explain counts %v in a run, and the measurement %v", got, want)
	}
}

// The floor of a benchmark does not depend on the other benchmarks.
func TestFloorsAreOfTheirOwnKind(t *testing.T) {
	plan := planOf(t, objects+`
  - {name: many, program: fun_xdp_basic, test_run: {}}
  - {name: more, program: fun_xdp_fizz, test_run: {repeat: 4000}}
  - {name: single, program: fun_xdp_basic, test_run: {repeat: 1}}
  - {name: few, program: fun_xdp_basic, test_run: {packets: [{ipv4: {src: 10.0.0.0/26}, udp: {}}]}}
  - {name: live, program: fun_xdp_basic, veth: {}}
  - {name: packet, program: fun_xdp_basic, veth: {sender: af_packet}}
  - {name: generic, program: fun_xdp_basic, veth: {mode: generic}}
  - {name: fast, program: profile, perf_event: {}}
  - {name: slow, program: profile, perf_event: {frequency: 99}}
`)
	keys := map[floorKey]string{}
	for _, j := range plan.Jobs {
		key := floorOf(j)
		if other, ok := keys[key]; ok && j.Name != "more" {
			t.Errorf("%s shares the floor of %s: %v", j.Name, other, key)
		}
		keys[key] = j.Name
	}
	if len(keys) != len(plan.Jobs)-1 {
		t.Errorf("%d floors: many and more are driven alike and share one", len(keys))
	}
}

func TestCancelKeepsWhatWasMeasured(t *testing.T) {
	testenv.Root(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	plan := planOf(t, objects+"  - {name: a, program: fun_xdp_basic, budget: 60s, test_run: {}}\n")
	stop := &stopAfter{rounds: 30, cancel: cancel}
	run, err := Measure(ctx, plan, Options{Loads: 1, Progress: stop})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(run.Results[0].Rounds.RunCnt); !run.Partial || n != 30 {
		t.Errorf("partial %v with %d rounds, want the 30 before the end", run.Partial, n)
	}
}

// stopAfter cancels a run after some rounds.
type stopAfter struct {
	silent
	rounds int
	cancel func()
}

func (s *stopAfter) Round() {
	if s.rounds--; s.rounds == 0 {
		s.cancel()
	}
}

func TestSavesAfterEachLoad(t *testing.T) {
	var rounds []int
	var partial []bool
	measure(t, objects+"  - {name: a, program: fun_xdp_basic, test_run: {}}\n", Options{Rounds: 9, Loads: 3, Save: func(r *bench.Run) error {
		rounds = append(rounds, len(r.Results[0].Rounds.RunCnt))
		partial = append(partial, r.Partial)
		return nil
	}})
	if !slices.Equal(rounds, []int{3, 6, 9}) || !slices.Equal(partial, []bool{true, true, false}) {
		t.Errorf("saved %v rounds, partial %v", rounds, partial)
	}
}

func TestOneFailureSparesTheOthers(t *testing.T) {
	run := measure(t, objects+`
  - {name: no pid, program: profile, perf_event: {load: {pid: 4194304}}}
  - {name: no command, program: profile, perf_event: {load: {command: [/no/such/program]}}}
  - {name: ends, program: profile, perf_event: {load: {command: ["true"]}}}
  - {name: no event, program: profile, perf_event: {event: cpu-clok}}
  - {name: good, program: fun_xdp_basic, test_run: {}}
`, Options{Rounds: 4, Loads: 1})
	for i, want := range []string{"no process 4194304", "/no/such/program", "load", "did you mean"} {
		if got := run.Results[i].Error; !strings.Contains(got, want) {
			t.Errorf("%s: error %q, want %q", run.Results[i].Benchmark, got, want)
		}
	}
	if good := run.Results[4]; good.Error != "" || len(good.Samples) == 0 {
		t.Errorf("good: error %q, %d samples", good.Error, len(good.Samples))
	}
}

// onThread runs fn like a measurement, on a thread that ends with it.
func onThread(t *testing.T, fn func(env *driver.Environment)) {
	t.Helper()
	done := make(chan error)
	go func() {
		// If fn fails the test, its goroutine ends without a result.
		defer close(done)
		done <- onLockedThread(func(env *driver.Environment) error { fn(env); return nil })
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func onLockedThread(fn func(env *driver.Environment) error) error {
	runtime.LockOSThread()
	env, err := driver.NewEnvironment(false)
	if err != nil {
		return err
	}
	defer env.Close()
	return fn(env)
}
