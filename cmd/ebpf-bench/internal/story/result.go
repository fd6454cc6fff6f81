package story

import (
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/suite"
)

// makeResult writes invented results of a run, for the program base in ./one_more.o:
// result FILE MODE/KERNEL/CPU MINUTE BENCHMARK=COST... KERNEL is a release, or
// NAME=RELEASE if a name selected it.
func makeResult(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 {
		ts.Fatalf("usage: result FILE MODE/KERNEL/CPU MINUTE BENCHMARK=COST...")
	}
	minute, err := strconv.Atoi(args[2])
	ts.Check(err)
	object := suite.NewObject("one_more.o", []byte(ts.ReadFile("one_more.o")))
	run := InventRun(args[1], minute)
	for _, arg := range args[3:] {
		name, cost, _ := strings.Cut(arg, "=")
		value, err := strconv.ParseFloat(cost, 64)
		ts.Check(err)
		r := InventResult(run.Testbed.Mode, name, value)
		r.Object, r.ObjectSHA256 = object.Path, object.SHA256
		run.Results = append(run.Results, r)
	}
	file, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	defer file.Close()
	ts.Check(bench.EncodeRuns(file, run))
}

// InventRun returns a run without results that started in that minute.
func InventRun(testbed string, minute int) *bench.Run {
	parts := strings.SplitN(testbed, "/", 3)
	asked, release, named := strings.Cut(parts[1], "=")
	if !named {
		asked, release = "", parts[1]
	}
	run := &bench.Run{
		Tool: "test", Seed: 1, Loads: inventedLoads,
		Started: time.Date(2026, 11, 21, 0, minute, 0, 0, time.UTC),
		Testbed: bench.Testbed{
			Mode: bench.Mode(parts[0]), Kernel: release, Asked: asked, KernelBuild: "#1", CPU: parts[2], Arch: "x86_64", Cores: 2, JIT: "on",
		},
	}
	if run.Testbed.Mode == bench.ModeExact {
		run.Testbed.QEMU = "10.0"
	}
	return run
}

const inventedLoads = 8

// InventResult returns a benchmark that costs that many instructions, or about that many
// ns, slightly different in each load.
func InventResult(mode bench.Mode, name string, cost float64) bench.Result {
	r := bench.Result{Benchmark: name, Driver: "test_run", Program: "base", Type: "xdp"}
	if mode == bench.ModeExact {
		r.Samples = []bench.Sample{{Measure: bench.Instructions, Values: []float64{cost}}}
		return r
	}
	latency := bench.Sample{Measure: bench.Latency}
	for load := range inventedLoads {
		const runs = 100_000
		ns := uint64(runs * cost * (1 + float64(load-inventedLoads/2)/10_000))
		r.Rounds.Add(load, ns, runs, 2*ns, 0)
		r.Floor.Add(load, 0, runs, 1, 0)
		latency.Values = append(latency.Values, float64(ns)/runs)
	}
	r.Samples = []bench.Sample{latency}
	return r
}
