package measured

import (
	"bytes"
	"io"
	"testing"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/report/reporttest"
)

// loadsOf returns a result with one round per load: the latencies, in
// nanoseconds.
func loadsOf(name string, latencies ...float64) bench.Result {
	r := bench.Result{Benchmark: name, Driver: "test_run", Object: "bpf/a.o", Samples: []bench.Sample{
		{Measure: bench.Latency}, {Measure: bench.LatencyRaw}, {Measure: bench.LatencyFloor}, {Measure: bench.Throughput},
		{Measure: bench.BPFInsns, Values: []float64{47.5}},
	}}
	for load, ns := range latencies {
		for range 3 {
			r.Rounds.Add(load, uint64(1000*(ns+40)), 1000, 100_000, 0)
			r.Floor.Add(load, 40_000, 1000, 100_000, 0)
			for i, v := range []float64{ns, ns + 40, 40, 1e7} {
				r.Samples[i].Values = append(r.Samples[i].Values, v)
			}
		}
	}
	return r
}

// read parses the output with benchstat's parser, of golang.org/x/perf.
func read(t *testing.T, m *Model) (results []*benchfmt.Result, units benchfmt.UnitMetadataMap) {
	t.Helper()
	var b bytes.Buffer
	if err := GoBench(&b, m); err != nil {
		t.Fatal(err)
	}
	r := benchfmt.NewReader(&b, "out.txt")
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.Result:
			results = append(results, rec.Clone())
		case *benchfmt.SyntaxError:
			t.Error(rec)
		}
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return results, r.Units()
}

func TestBenchstatReadsARun(t *testing.T) {
	run := &bench.Run{Testbed: bench.Testbed{Mode: "host", Kernel: "6.12.1", Arch: "x86_64", CPU: "AMD  EPYC\nmode: evil"}, Results: []bench.Result{
		loadsOf("xdp/basic 64B", 10, 20.25, 30), loadsOf("9lives", 5),
		{Benchmark: "broken", Driver: "test_run", Error: "refused"},
		{Benchmark: "loaded", Driver: "verify", Object: "b.o", Samples: []bench.Sample{{Measure: bench.VerifiedInsns, Values: []float64{12}}}},
	}}
	results, units := read(t, New(run))
	if len(results) != 5 {
		t.Fatalf("%d lines", len(results))
	}
	for i, want := range []float64{10, 20.25, 30} {
		r := results[i]
		base, parts := r.Name.Parts()
		if string(base) != "Xdp" || len(parts) != 2 || string(parts[0]) != "/basic_64B" || string(parts[1]) != "-1" || r.Iters != 3000 {
			t.Errorf("name %s, parts %q, %d runs", r.Name, parts, r.Iters)
		}
		for unit, want := range map[string]float64{"sec/op": want / 1e9, "raw-sec/op": (want + 40) / 1e9, "floor-sec/op": 40e-9, "ops/s": 1e7, "bpf-insns/op": 47.5} {
			if v, ok := r.Value(unit); !ok || v < want*0.999999 || v > want*1.000001 {
				t.Errorf("%s is %v, want %v", unit, v, want)
			}
		}
		for key, want := range map[string]string{"goos": "linux", "goarch": "amd64", "kernel": "6.12.1", "mode": "host", "cpu": "AMD  EPYC mode: evil", "pkg": "bpf/a.o"} {
			if got := r.GetConfig(key); got != want {
				t.Errorf("%s is %q, want %q", key, got, want)
			}
		}
	}
	if string(results[3].Name.Full()) != "X9lives-1" {
		t.Errorf("%s", results[3].Name)
	}
	if v, ok := results[4].Value("verified-insns"); !ok || v != 12 || results[4].GetConfig("pkg") != "b.o" {
		t.Errorf("what is only loaded: %+v", results[4])
	}
	if units.GetAssumption("bpf-insns/op") != benchmath.AssumeExact || units.GetAssumption("ns/op") == benchmath.AssumeExact {
		t.Error("what is exact is told wrongly")
	}
	if units.GetBetter("ops/s") != 1 || units.GetBetter("ns/op") == 1 {
		t.Error("which way is better is told wrongly")
	}
}

// Loads are the sample: with enough of them, benchmath finds a difference that
// exists, and none that does not.
func TestBenchmathComparesLoads(t *testing.T) {
	sample := func(latencies ...float64) *benchmath.Sample {
		results, _ := read(t, New(&bench.Run{Results: []bench.Result{loadsOf("a", latencies...)}}))
		var values []float64
		for _, r := range results {
			v, _ := r.Value("sec/op")
			values = append(values, v)
		}
		return benchmath.NewSample(values, &benchmath.DefaultThresholds)
	}
	base := sample(10, 11, 12, 13, 14, 15, 16, 17, 18, 19)
	slower := sample(20, 21, 22, 23, 24, 25, 26, 27, 28, 29)
	if c := benchmath.AssumeNothing.Compare(base, slower); c.P > 0.001 || c.N1 != 10 || c.N2 != 10 {
		t.Errorf("slower: %+v", c)
	}
	if c := benchmath.AssumeNothing.Compare(base, sample(19, 10, 18, 11, 17, 12, 16, 13, 15, 14)); c.P < 0.5 {
		t.Errorf("the same: %+v", c)
	}
	if s := benchmath.AssumeNothing.Summary(base, 0.95); s.Center < 14e-9 || s.Center > 15e-9 {
		t.Errorf("%+v", s)
	}
}

// Names and paths are a stranger's: none of them starts a line.
func TestGoBenchOfHostileNames(t *testing.T) {
	r := loadsOf("a\nBenchmarkPlanted 1 1 ns/op", 10)
	r.Object = "x\nUnit ns/op better=higher\n"
	results, units := read(t, New(&bench.Run{Results: []bench.Result{r}}))
	if len(results) != 1 || units.GetBetter("ns/op") == 1 {
		t.Errorf("%d results, units %v", len(results), units)
	}
}

// Measurements by Go return to benchstat with their original names.
func TestGoBenchOfGo(t *testing.T) {
	for want, r := range map[string]bench.Result{
		"Parse/size=10-2": {Benchmark: "agent.Parse/size=10", Object: "x/agent", Program: "BenchmarkParse", Procs: 2},
		"Parse":           {Benchmark: "x/agent.Parse", Object: "x/agent", Program: "BenchmarkParse"},
		"B":               {Benchmark: "B", Program: "BenchmarkB", Procs: 1},
		"B-4":             {Benchmark: "B-4", Program: "BenchmarkB-4"},
		"_x":              {Benchmark: "_x", Program: "Benchmark_x"},
		"Other":           {Benchmark: "other", Object: "x", Program: "BenchmarkParse"},
	} {
		r.Driver = bench.DriverGo
		r.Samples = []bench.Sample{{Measure: bench.Measure{Name: "hit-ratio", Unit: "hit-ratio", Direction: bench.UnknownDirection}, Values: []float64{0.5}}}
		results, _ := read(t, New(&bench.Run{Results: []bench.Result{r}}))
		if len(results) != 1 || string(results[0].Name.Full()) != want {
			t.Errorf("%+v, want %s", results, want)
			continue
		}
		if v, ok := results[0].Value("hit-ratio"); !ok || v != 0.5 {
			t.Errorf("%s: %+v", want, results[0].Values)
		}
	}
}

func TestGoBenchText(t *testing.T) {
	exact := &bench.Run{Testbed: bench.Testbed{Mode: bench.ModeExact, Kernel: "6.12.107", Arch: "x86_64", CPU: "QEMU"}, Results: []bench.Result{
		{Benchmark: "a", Object: "a.o", Samples: []bench.Sample{{Measure: bench.Instructions, Values: []float64{124.25}}}, Rounds: bench.Counters{Load: []int{0}, RunCnt: []uint64{2000}, RunTimeNS: []uint64{2}}},
	}}
	host := &bench.Run{Testbed: bench.Testbed{Mode: "host", Kernel: "6.18.1", Arch: "aarch64", CPU: "ARM"}, Results: []bench.Result{loadsOf("a", 10, 11), loadsOf("parallel", 12)}}
	parallel := &host.Results[1]
	parallel.CPUs = 4
	parallel.Samples = append(parallel.Samples, bench.Sample{Measure: bench.Contention, Values: []float64{1.5}}, bench.Sample{Measure: bench.Cycles, Values: []float64{60}})
	reporttest.Golden(t, "gobench.txt", func(w io.Writer) error { return GoBench(w, New(exact, host)) })
}
