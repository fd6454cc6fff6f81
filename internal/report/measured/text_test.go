package measured

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/report/reporttest"
	"github.com/org/ebpf-bench-action/internal/strictyaml/schematest"
)

// exampleRun has one of everything that a report must show.
func exampleRun() *bench.Run {
	return &bench.Run{
		Tool: "v1.2.3", Started: time.Unix(1_700_000_000, 0).UTC(), Elapsed: 12.34, Seed: 42, Loads: 8, Partial: true,
		Testbed: bench.Testbed{Mode: "host", Kernel: "6.12.1", CPU: "AMD EPYC", Cores: 2, Virtual: "kvm", JIT: "on"},
		Results: []bench.Result{
			result("xdp/basic", "test_run", 60, 43),
			fresh(result("xdp/slow <&>", "test_run", 1260, 43)),
			attached(),
			{Benchmark: "xdp/refused", Driver: "test_run", Error: "the verifier refuses program x: invalid access"},
			{Benchmark: "tiny", Driver: "perf_event", Warnings: []string{"no floor: it failed"}, Samples: []bench.Sample{
				{Measure: bench.LatencyRaw, Values: []float64{2300, 2400}},
			}},
		},
	}
}

func result(name, driver string, raw, floor float64) bench.Result {
	r := bench.Result{Benchmark: name, Driver: driver, Samples: []bench.Sample{
		{Measure: bench.Latency}, {Measure: bench.LatencyRaw}, {Measure: bench.LatencyFloor}, {Measure: bench.Throughput},
	}}
	for i := range 20 {
		d := float64(i%5) / 10
		r.Rounds.Add(0, uint64(2000*(raw+d)), 2000, 250_000, 0)
		for s, v := range []float64{raw + d - floor, raw + d, floor, 8e6} {
			r.Samples[s].Values = append(r.Samples[s].Values, v)
		}
	}
	return r
}

func fresh(r bench.Result) bench.Result {
	r.Fresh, r.Type = "the packet", "xdp"
	r.Kinds = []bench.Kind{{Retval: 1, BPFInsns: 15, Runs: 973}, {Retval: 2, BPFInsns: 1077, Runs: 51}}
	return r
}

func attached() bench.Result {
	r := result("xdp/veth", "veth", 70, 45)
	r.Traffic = &bench.Traffic{Sent: 40_005, Run: 40_000, Dropped: 3, Unaccounted: 2, Sender: "live_frames"}
	r.Warnings = []string{"2 of 40005 packets are unaccounted for"}
	return r
}

func TestText(t *testing.T) {
	out := reporttest.Golden(t, "run.txt.golden", func(w io.Writer) error { return Text(w, New(exampleRun())) })
	if strings.Contains(out, "\x1b") {
		t.Error("escape sequences without Color")
	}
	m := New(exampleRun())
	m.Color = true
	var b bytes.Buffer
	if err := Text(&b, m); err != nil || !strings.Contains(b.String(), "\x1b[1m") {
		t.Errorf("no bold with Color: %v", err)
	}
}

// A benchmark over its budget is marked in its row, with the reason below,
// unless the reader sees that elsewhere.
func TestTextOverBudget(t *testing.T) {
	run := exampleRun()
	run.Results = run.Results[:3]
	run.Results[1].Alerts = []bench.Alert{{Measure: "latency", Value: 1217.25, Limit: 1217, Severity: "fail"}, {Measure: "throughput", Value: 8e6, Limit: 9e6, Under: true, Severity: "warn"}}
	run.Results[2].Alerts = run.Results[1].Alerts[1:]
	reporttest.Golden(t, "run_budget.txt.golden", func(w io.Writer) error { return Text(w, New(run)) })
	exact := *run
	exact.Testbed.Mode, exact.Testbed.Kernel = bench.ModeExact, "6.1.0"
	exact.Results = []bench.Result{{Benchmark: "xdp/basic", Driver: "test_run", Samples: []bench.Sample{{Measure: bench.Instructions, Values: []float64{21}}},
		Alerts: []bench.Alert{{Measure: "instructions", Value: 21, Limit: 20, Severity: "fail"}}}}
	reporttest.Golden(t, "run_budget_exact.txt.golden", func(w io.Writer) error { return Text(w, New(&exact)) })
	other := exact
	other.Testbed.Kernel = "6.12.1"
	m := New(&exact, &other)
	m.Explained = true
	reporttest.Golden(t, "run_budget_kernels.txt.golden", func(w io.Writer) error { return Text(w, m) })
}

// A cost below zero is explained, with a warning if most rounds had it.
func TestTextBelowFloor(t *testing.T) {
	run := exampleRun()
	run.Partial = false
	run.Results = []bench.Result{result("tc/empty", "test_run", 42.75, 43), result("cgroup/tiny", "cgroup", 39, 43)}
	reporttest.Golden(t, "run_negative.txt.golden", func(w io.Writer) error { return Text(w, New(run)) })
}

// A program that is only loaded has the kernel's figures, and means have no
// more digits than anybody reads.
func TestTextLoaded(t *testing.T) {
	run := exampleRun()
	run.Partial = false
	counted := result("xdp/mean", "test_run", 60, 43)
	counted.CPUs = 4
	counted.Samples = append(counted.Samples, bench.Sample{Measure: bench.Contention, Values: []float64{1.52}}, bench.Sample{Measure: bench.BPFInsns, Values: []float64{155.6667}})
	run.Results = []bench.Result{counted, {Benchmark: "lsm/loaded", Driver: "verify", Samples: []bench.Sample{
		{Measure: bench.VerifiedInsns, Values: []float64{14_210}}, {Measure: bench.VerifierStates, Values: []float64{87}},
		{Measure: bench.JitedBytes, Values: []float64{1}}, {Measure: bench.StackBytes, Values: []float64{64}},
	}}}
	reporttest.Golden(t, "run_loaded.txt.golden", func(w io.Writer) error { return Text(w, New(run)) })
}

func TestBMF(t *testing.T) {
	out := reporttest.Golden(t, "run.bmf.golden", func(w io.Writer) error { return BMF(w, New(exampleRun())) })
	schemaText, err := os.ReadFile("testdata/bmf.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(schemaText))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("s.json", schema); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("s.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	if err := compiled.Validate(doc); err != nil {
		t.Error(err)
	}
	// The schema refuses invalid documents.
	for _, bad := range []string{`[]`, `{"a": {}}`, `{"a": {"latency": {"value": null}}}`, `{"a": {"latency": 5}}`, `{"a": {"Latency NS": {"value": 1}}}`} {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(bad))
		if err != nil {
			t.Fatal(err)
		}
		if compiled.Validate(doc) == nil {
			t.Errorf("the schema takes %s", bad)
		}
	}
}

func TestBMFRefusesNamesThatBencherConfuses(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{"xdp/a b", "xdp/a-b"}, `"xdp/a b" and "xdp/a-b" are both "xdp-a-b"`},
		{[]string{"A", "a"}, `"A" and "a"`},
		{[]string{strings.Repeat("x", 1025)}, "1025 bytes"},
	} {
		run := &bench.Run{}
		for _, name := range c.names {
			run.Results = append(run.Results, result(name, "test_run", 50, 40))
		}
		var b bytes.Buffer
		if err := BMF(&b, New(run)); err == nil || !strings.Contains(err.Error(), c.want) || b.Len() > 0 {
			t.Errorf("%.20q: error %v, %d bytes written", c.names, err, b.Len())
		}
	}
}

func TestJSONIsTheRun(t *testing.T) {
	var b bytes.Buffer
	if err := JSON(&b, New(exampleRun())); err != nil {
		t.Fatal(err)
	}
	if err := schematest.Validate(t, bench.Schema, b.String()); err != nil {
		t.Error(err)
	}
	run, err := bench.DecodeRun(&b)
	if err != nil || len(run.Results) != 5 || run.Results[0].Rounds.Runs() != 40_000 {
		t.Errorf("%v, %+v", err, run)
	}
}

func BenchmarkText(b *testing.B) {
	m := New(exampleRun())
	for b.Loop() {
		if err := Text(&bytes.Buffer{}, m); err != nil {
			b.Fatal(err)
		}
	}
}

// matrixRun returns a suite in exact mode on a kernel, like the bundled one.
func matrixRun(kernel string, more float64) *bench.Run {
	run := &bench.Run{Testbed: bench.Testbed{Mode: bench.ModeExact, Kernel: kernel, CPU: "QEMU Virtual CPU version 2.5+", Cores: 1, Virtual: "qemu", JIT: "on"}}
	for _, name := range []string{"fun_xdp/basic", "fun_xdp/fibonacci_slow", "fun_xdp/fibonacci/veth_generic"} {
		run.Results = append(run.Results, bench.Result{
			Benchmark: name, Driver: "test_run", Samples: []bench.Sample{{Measure: bench.Instructions, Values: []float64{1610.25 + more}}},
		})
	}
	last := &run.Results[2]
	last.Replaced = []bench.Replaced{{Function: "parse", Program: "parse_anew", Object: last.Object}, {Function: "classify", Program: "plugin", Object: "plugins.o"}}
	last.Driver, last.Traffic = "veth", &bench.Traffic{Sent: 2048, Run: 2048, Sender: "af_packet"}
	return run
}

func debianRuns() []*bench.Run {
	runs := []*bench.Run{
		matrixRun("5.10.0-32-cloud-amd64", 0), matrixRun("6.1.0-50-cloud-amd64", 1),
		matrixRun("6.12.107+deb13-cloud-amd64", 2), matrixRun("7.2.12+deb13-cloud-amd64", 3),
	}
	runs[0].Results[0] = bench.Result{Benchmark: "fun_xdp/basic", Driver: "test_run", Error: "the verifier refuses it"}
	return runs
}

// What the kernels share appears once, and everything fits a terminal.
func TestTextOfKernels(t *testing.T) {
	out := reporttest.Golden(t, "kernels.txt.golden", func(w io.Writer) error { return Text(w, New(debianRuns()...)) })
	for line := range strings.Lines(out) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 100 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	m := New(debianRuns()...)
	m.Explained = true
	var b bytes.Buffer
	if err := Text(&b, m); err != nil || strings.Contains(b.String(), "refuses") || !strings.Contains(b.String(), "1 failed") {
		t.Errorf("a reason that is said elsewhere is said again, or nothing is: %v\n%s", err, &b)
	}
}

// A point release must not begin a new series at Bencher.
func TestBMFOfKernels(t *testing.T) {
	for _, c := range []struct {
		kernels, want []string
	}{
		{[]string{"6.1.0-50-cloud-amd64", "6.12.107+deb13-cloud-amd64"}, []string{"fun_xdp/basic@6.1", "fun_xdp/basic@6.12"}},
		{[]string{"6.1.0-50", "6.12.107", "6.12.90"}, []string{"fun_xdp/basic@6.1", "fun_xdp/basic@6.12.107", "fun_xdp/basic@6.12.90"}},
		{[]string{"6.12.107"}, []string{"fun_xdp/basic"}},
		{[]string{"custom", "6.12rc1"}, []string{"fun_xdp/basic@custom", "fun_xdp/basic@6.12rc1"}},
	} {
		var runs []*bench.Run
		for _, kernel := range c.kernels {
			runs = append(runs, matrixRun(kernel, 0))
		}
		var b bytes.Buffer
		if err := BMF(&b, New(runs...)); err != nil {
			t.Fatal(err)
		}
		for _, name := range c.want {
			if !strings.Contains(b.String(), `"`+name+`":`) {
				t.Errorf("%v: no %s in\n%s", c.kernels, name, &b)
			}
		}
	}
}
