package runner

import (
	"slices"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/insn"
	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
	"github.com/org/ebpf-bench-action/runner/internal/subject"
)

// The instructions of a run depend neither on the driver nor on the kernel: a
// packet counts as one however it arrives.
func TestBPFInsns(t *testing.T) {
	testenv.Plain(t)
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

// The counters count as many runs as the kernel does, including traffic from
// outside.
func TestCountedRunsAreThoseOfTheKernel(t *testing.T) {
	testenv.Root(t)
	for _, by := range []string{"test_run: {}", "veth: {count: 1000}", "veth: {count: 1000, mode: generic}", "perf_event: {window: 20ms}"} {
		program := "fun_xdp_fibonacci"
		if strings.HasPrefix(by, "perf_event") {
			program = "profile"
		}
		job := planOf(t, objects+"  - {name: a, program: "+program+", "+by+"}\n").Jobs[0]
		onThread(t, func(env *driver.Environment) {
			stats, err := driver.EnableStats()
			if err != nil {
				t.Fatal(err)
			}
			defer stats.Close()
			spec := job.Spec.Copy()
			table, err := insn.Instrument(spec, insn.Options{})
			if err != nil {
				t.Fatal(err)
			}
			s, err := subject.OpenSpec(t.Context(), env, job, spec)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			for range 3 {
				if err := s.Drive(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			kernel, err := driver.ReadCounters(s.Program)
			if err != nil {
				t.Fatal(err)
			}
			counts, err := table.Read(s.Coll)
			if err != nil {
				t.Fatal(err)
			}
			if counted := counts.Runs(program); counted != kernel.RunCnt || counted == 0 {
				t.Errorf("%s: counted %d runs, and the kernel %d", by, counted, kernel.RunCnt)
			}
		})
	}
}
