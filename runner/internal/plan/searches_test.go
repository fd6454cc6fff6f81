package plan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/runner/internal/bpfmap"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
	"github.com/org/ebpf-bench-action/runner/internal/plan/plantest"
)

// Each program to which test_run gives an input is searched once, whatever drives its
// benchmarks, and knows the packets of all of them.
func TestSearches(t *testing.T) {
	s := plantest.Suite(t, plantest.Objects+`  - {name: veth, program: fun_xdp_basic, veth: {packets: [{ipv4: {src: 10.9.9.9}, udp: {}}]}}
  - {name: more, program: fun_xdp_basic, test_run: {packets: [{ipv4: {src: 10.8.8.8}, udp: {}}]}}
  - {name: at once, program: fun_xdp_fizz, parallel: true, test_run: {repeat: 20000}}
  - {name: samples, program: profile}
`)
	all, err := plan.NewSearches(s)
	if err != nil {
		t.Fatal(err)
	}
	if len(all.Jobs) != 2 || all.Jobs[0].Name != "veth" || all.Jobs[1].Name != "at once" {
		t.Fatalf("searched are %+v", all.Jobs)
	}
	source := func(frame []byte) string { return string(frame[26:30]) }
	veth := all.Jobs[0]
	if veth.Driver() != bench.DriverTestRun || source(veth.Frames[0]) != "\x0a\x09\x09\x09" || len(veth.More) != 1 || source(veth.More[0]) != "\x0a\x08\x08\x08" {
		t.Errorf("%s starts with %x and %x", veth.Driver(), veth.Frames, veth.More)
	}
	if all.Jobs[1].Parallel {
		t.Error("a program is searched on all CPUs")
	}
	if w := strings.Join(all.Warnings(), "\n"); !strings.Contains(w, "samples: not searched: test_run gives no input to programs of type perf_event") {
		t.Errorf("the warnings are %q", w)
	}
}

// A job with an input finds in maps what its own has and what the input adds, and shares
// neither with its own.
func TestWithInput(t *testing.T) {
	j := plantest.Of(t, plantest.Objects+"  - {name: a, program: fun_xdp_basic, test_run: {}, maps: {sources: {entries: [{key: 1, value: 2}]}}}\n").Jobs[0]
	frames := [][]byte{make([]byte, 60), make([]byte, 61)}
	more := map[string][]bpfmap.Entry{"sources": {{Key: make([]byte, 4), Value: make([]byte, 8)}}}
	for _, fresh := range []bool{false, true} {
		in := j.WithInput("a/worst", frames, []byte{1, 2}, more, fresh)
		inputs, err := in.Inputs()
		if err != nil || len(inputs) != 2 || inputs[1].Context[1] != 2 || in.Name != "a/worst" {
			t.Errorf("fresh %t: %s has the inputs %v (%v)", fresh, in.Name, inputs, err)
		}
		if in.Entries["sources"][0].Key[0] != 1 || in.Entries["sources"][1].Key[0] != 0 {
			t.Errorf("fresh %t: the entries are %v", fresh, in.Entries)
		}
		if once := in.TestRun.Repeat == 2 && in.Benchmark.Maps["sources"].Reset == bench.ResetSlice; once != fresh {
			t.Errorf("fresh %t: %d runs, with maps reset at %v", fresh, in.TestRun.Repeat, in.Benchmark.Maps)
		}
	}
	if j.Name != "a" || len(j.Entries["sources"]) != 1 || slices.Equal(j.Frames[0], frames[0]) || j.TestRun.Context != nil || j.State != "" {
		t.Errorf("the job itself changed: %+v", j)
	}
}
