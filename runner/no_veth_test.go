package runner

import (
	"context"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/testenv"
)

func TestAKernelWithoutVethIsMeasuredByTestRun(t *testing.T) {
	testenv.Root(t)
	p := planOf(t, objects+`
  - {name: test_run, program: fun_xdp_fizz, test_run: {repeat: 1000}}
  - {name: veth, program: fun_xdp_fizz, veth: {count: 1000, packets: [{ipv4: {src: 10.0.0.0-10.0.0.2}, udp: {}}]}}
`)
	jobs := []*Job{p.Jobs[0], p.Jobs[1].Kind().Instead(p.Jobs[1])}
	if p.Jobs[1].Driver() != "veth" || len(p.Jobs[1].Warnings) != 0 {
		t.Errorf("the plan itself has changed: %+v", p.Jobs[1].Benchmark)
	}
	run, err := Measure(context.Background(), &Plan{Jobs: jobs}, Options{Rounds: 20, Loads: 2})
	if err != nil {
		t.Fatal(err)
	}
	if r := run.Results[0]; len(r.Warnings) != 0 {
		t.Errorf("what needs no veth is warned of: %q", r.Warnings)
	}
	r := run.Results[1]
	if r.Error != "" || r.Benchmark != "veth" || r.Driver != "test_run" || len(r.Warnings) == 0 || r.Traffic != nil {
		t.Errorf("got %s by %s, error %q, warnings %q", r.Benchmark, r.Driver, r.Error, r.Warnings)
	}
	for _, runs := range r.Rounds.RunCnt {
		if runs != 3*333 {
			t.Errorf("%d runs in a round, want as many as there were packets, the same of each: 999", runs)
		}
	}
	if s := r.Sample(bench.Latency.Name); s == nil || len(s.Values) == 0 {
		t.Error("it has no floor")
	}
}
