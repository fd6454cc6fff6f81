package report

import (
	"bytes"
	"math"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/thresholds"
)

var frames = bench.Measure{Name: "frames/op", Unit: "frames/op", Direction: bench.LowerIsBetter}

// ingestedRun has what go test measured, with a unit of its own, by so much more.
func ingestedRun(more float64) *bench.Run {
	run := &bench.Run{Testbed: bench.Testbed{Mode: bench.ModeHost, Kernel: "6.12.1", CPU: "AMD EPYC", Cores: 2, JIT: "on"}}
	for _, name := range []string{"record.Count", "record.Decode"} {
		r := bench.Result{Benchmark: name, Driver: bench.DriverGo, Samples: []bench.Sample{{Measure: bench.Latency}}}
		for i := range 10 {
			r.Samples[0].Values = append(r.Samples[0].Values, 100+more+float64(i)/10)
		}
		run.Results = append(run.Results, r)
		more *= 2
	}
	decode := &run.Results[1]
	add := func(m bench.Measure, v float64) {
		decode.Samples = append(decode.Samples, bench.Sample{Measure: m, Values: []float64{v, v, v}})
	}
	add(bench.Allocs, 2+math.Floor(more/20))
	add(bench.HeapBytes, 96+4*more)
	add(frames, 64+more/10)
	return run
}

// Of another tool's results there is no floor to speak of, no column in which
// nothing stands, and all units that there are.
func TestTextIngested(t *testing.T) {
	run := ingestedRun(0)
	golden(t, "run_ingested.txt.golden", func(m *Model, w *bytes.Buffer) error { return Text(w, m) }, NewModel(run))
	run.Results = append(run.Results, result("xdp/basic", "test_run", 60, 43))
	golden(t, "run_ingested_beside.txt.golden", func(m *Model, w *bytes.Buffer) error { return Text(w, m) }, NewModel(run))
}

// ingestedComparison got worse in all of its measures, some of them of one benchmark.
func ingestedComparison(more float64) ComparedTable {
	base, head := ingestedRun(0), ingestedRun(more)
	c := &bench.Comparison{Testbed: head.Testbed, BaseTestbed: &base.Testbed, Base: bench.Side{Name: "main.json"}, Head: bench.Side{Name: "user.json"}}
	for i := range base.Results {
		c.Pairs = append(c.Pairs, bench.Pair{Benchmark: base.Results[i].Benchmark, Base: &base.Results[i], Head: &head.Results[i]})
	}
	return ComparedTable{c, thresholds.Default().Compare(c, thresholds.Options{})}
}
