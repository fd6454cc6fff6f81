package runner

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/object"
	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
)

func TestHardwareCountersOfAttachedPrograms(t *testing.T) {
	testenv.Probe(t, "fentry")
	countTaskClock(t)
	run := measure(t, objects+`
  - {name: quick, program: fun_xdp_basic, veth: {count: 100}}
  - {name: slow, program: fun_xdp_fibonacci_slow, veth: {count: 100, packets: [{ipv4: {src: 10.0.0.255}, udp: {}}]}}
  - {name: sampled, program: profile, perf_event: {window: 10ms}}
  - {name: loaded, program: profile, verify: {}}
`, Options{Rounds: 20, Loads: 2, Seed: 1})
	hooks := measureHooks(t, Options{Rounds: 20, Loads: 2, Seed: 1}, "tracepoint", "raw_tp command: {load: switches}", "fentry command: {load: reads}", "raw_tp_w")
	median := map[string]float64{}
	for _, r := range append(run.Results, hooks...) {
		if r.Error != "" {
			t.Fatalf("%s: %s", r.Benchmark, r.Error)
		}
		s := r.Sample(bench.Cycles.Name)
		if r.Driver == bench.DriverVerify {
			if s != nil {
				t.Errorf("%s: %d values of a program that is only loaded", r.Benchmark, len(s.Values))
			}
			continue
		}
		if s == nil && r.Type == "tracing" && slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, "lets no tracing program be traced") }) {
			continue
		}
		if s == nil || len(s.Values) == 0 || len(s.Values) > minRounds {
			t.Errorf("%s: %+v, want a value of each slice that is profiled; %q", r.Benchmark, s, r.Warnings)
			continue
		}
		median[r.Benchmark] = medianOf(t, &r, s)
	}
	slowIsDearer(t, median)
}

// onVeth returns a track of fun_xdp_basic on a veth, with 100 packets per
// slice.
func onVeth(t *testing.T, env *driver.Environment, change func(*Job)) *track {
	t.Helper()
	plan := planOf(t, objects+"\n  - {name: b, program: fun_xdp_basic, veth: {count: 100}}\n")
	change(plan.Jobs[0])
	b := newTrack(plan.Jobs[0], newFloor(floorOf(plan.Jobs[0]), plan.Jobs[0]))
	if b.open(t.Context(), env); b.err != nil {
		t.Fatal(b.err)
	}
	return b
}

func TestProfileSeesWhatTheKernelCounts(t *testing.T) {
	testenv.Probe(t, "fentry")
	countTaskClock(t)
	onThread(t, func(env *driver.Environment) {
		stats, err := driver.EnableStats()
		if err != nil {
			t.Fatal(err)
		}
		defer stats.Close()
		b := onVeth(t, env, func(*Job) {})
		defer b.close()
		before, err := driver.ReadCounters(b.subject.Program)
		if err != nil {
			t.Fatal(err)
		}
		p := b.profile(t.Context(), 3)
		if p.err != nil {
			t.Fatal(p.err)
		}
		for i, s := range p.slices {
			if s.RunCnt != 100 {
				t.Errorf("slice %d: %d runs were profiled of 100", i, s.RunCnt)
			}
		}
		after, err := driver.ReadCounters(b.subject.Program)
		if err != nil {
			t.Fatal(err)
		}
		if n := after.Since(before).RunCnt; n != 300 {
			t.Errorf("the kernel counts %d runs, want 300", n)
		}
	})
}

// A program that nothing can trace is measured otherwise, and a warning says
// why.
func TestProfileOfAProgramWithoutTypes(t *testing.T) {
	testenv.Root(t)
	countTaskClock(t)
	onThread(t, func(env *driver.Environment) {
		b := onVeth(t, env, func(j *Job) { object.StripTypes(j.Spec) })
		defer b.close()
		profile(t.Context(), env, []*track{b}, 1)
		if b.err != nil || len(b.hardware) > 0 {
			t.Errorf("got %v, %v", b.err, b.hardware)
		}
		if !slices.ContainsFunc(b.warnings, func(w string) bool { return strings.Contains(w, "has no BTF") }) {
			t.Errorf("warnings %q, want that there is no BTF", b.warnings)
		}
	})
}

// A comparison profiles each load once, on both sides.
func TestHardwareCountersOfPairs(t *testing.T) {
	testenv.Probe(t, "fentry")
	countTaskClock(t)
	const driver = ", veth: {count: 100, packets: [{ipv4: {src: 10.0.0.255}, udp: {}}]}}\n"
	base := planOf(t, objects+"\n  - {name: a, program: fun_xdp_basic"+driver)
	head := planOf(t, objects+"\n  - {name: a, program: fun_xdp_fibonacci_slow"+driver)
	c, err := Compare(t.Context(), []PairJob{{Base: base.Jobs[0], Head: head.Jobs[0]}}, Options{Budget: time.Second, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	quick, slow := c.Pairs[0].Base.Sample(bench.Cycles.Name), c.Pairs[0].Head.Sample(bench.Cycles.Name)
	if quick == nil || slow == nil || len(quick.Values) < minPairLoads || len(slow.Values) != len(quick.Values) {
		t.Fatalf("base %+v, head %+v; %q", quick, slow, c.Pairs[0].Head.Warnings)
	}
	if q, s := slices.Min(quick.Values), slices.Min(slow.Values); s < 2*q {
		t.Errorf("the slow program takes %.0f ns of CPU time, the quick one %.0f", s, q)
	}
}
