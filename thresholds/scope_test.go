package thresholds

import (
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
)

func TestKernelOfAThreshold(t *testing.T) {
	run := func(release string) *bench.Run {
		return &bench.Run{Testbed: bench.Testbed{Kernel: release}, Results: []bench.Result{*exactPair("a", 0, 2).Head}}
	}
	for pattern, want := range map[string]map[string]bool{
		"6.1":                  {"6.1.0-50-cloud-amd64": true, "6.1": true, "6.12.107+deb13-cloud-amd64": false, "6.10.3": false},
		"6.1.0":                {"6.1.0-50-cloud-amd64": true, "6.1.01": false},
		"6.1*":                 {"6.1.0-50-cloud-amd64": true, "6.12.107+deb13-cloud-amd64": true},
		"6.1.0-50-cloud-amd64": {"6.1.0-50-cloud-amd64": true, "6.1.0-51-cloud-amd64": false},
		"*-cloud-amd64":        {"6.1.0-50-cloud-amd64": true, "6.18.44": false},
		"":                     {"6.1.0": true},
	} {
		p := policy(t, "thresholds: [{measure: instructions, max: 1, kernel: \""+pattern+"\"}]\n")
		for release, want := range want {
			if got := len(marked(p, run(release))) == 1; got != want {
				t.Errorf("%q is for %s: %v", pattern, release, got)
			}
		}
	}
	// The name that selected a kernel is enough.
	p := policy(t, "thresholds: [{measure: instructions, max: 1, kernel: host}]\n")
	for asked, want := range map[string]int{"host": 1, "6.18": 0, "": 0} {
		r := run("6.18.44")
		r.Testbed.Asked = asked
		if got := len(marked(p, r)); got != want {
			t.Errorf("a threshold for host judges a kernel asked for as %q %d times", asked, got)
		}
		if err := p.CheckKernels([]Kernel{KernelOf(&r.Testbed)}); (err == nil) != (want == 1) {
			t.Errorf("asked for as %q: %v", asked, err)
		}
	}
}

// A threshold for a kernel that is not measured is a gate that is off.
func TestCheckKernels(t *testing.T) {
	for _, c := range []struct {
		pattern string
		kernel  Kernel
		want    bool
	}{
		{"6.1", Kernel{"6.1", ""}, true},
		{"6.1", Kernel{"6.12", ""}, false},
		{"6.1", Kernel{"6.1.0-50", ""}, true},
		{"6.1.0-50-cloud-amd64", Kernel{"6.1", ""}, true},
		{"6.1.0-50-cloud-amd64", Kernel{"6.1", "6.1.0-51-cloud-amd64"}, false},
		{"6.1.*-cloud-amd64", Kernel{"6.1", ""}, true},
		{"5.*", Kernel{"6.1", ""}, false},
		{"6.1", Kernel{"trixie", ""}, true},
		{"6.1", Kernel{"trixie", "6.12.107"}, false},
		{"trixie", Kernel{"trixie", "6.12.107"}, true},
		{"host", Kernel{"6.12", "6.12.107"}, false},
		{"6.12", Kernel{"", "6.12.107"}, true},
	} {
		p := policy(t, "thresholds:\n  - {measure: instructions, max: 1}\n  - {measure: instructions, max: 1, kernel: \""+c.pattern+"\"}\n")
		err := p.Check(Scope{Benchmarks: []Benchmark{{"a", "test_run"}}, Kernels: []Kernel{c.kernel}})
		if (err == nil) != c.want {
			t.Errorf("%q of %+v: %v", c.pattern, c.kernel, err)
		}
		if want := "t.yml:4: no kernel that is measured matches \"" + c.pattern + "\": there are " + c.kernel.String(); err != nil && err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// A threshold on a measure that no benchmark can have is a gate that is off.
func TestCheckMeasures(t *testing.T) {
	suite := []Benchmark{{"run", "test_run"}, {"wire", "veth"}, {"sampled", "perf_event"}, {"loaded", "verify"}, {"traced", "command"}}
	const static = "verified-insns, verifier-states, verifier-peak-states, xlated-bytes, jited-bytes, stack-bytes, map-memory"
	for _, c := range []ruleInMode{
		{"{measure: latency, max: 1}", bench.ModeHost, ""},
		{"{measure: latency, max: 1}", bench.ModeKVM, ""},
		{"{measure: latency, max: 1}", "", ""},
		{"{measure: latency, max: 1}", bench.ModeExact, ""},
		{"{measure: latency, history: {}}", bench.ModeExact, ""},
		{"{measure: instructions, max: 1}", bench.ModeHost, ""},
		{"{benchmark: loaded, measure: instructions, max: 1}", bench.ModeExact, `no benchmark that matches "loaded" can have instructions, driven by verify: there are ` + static},
		{"{benchmark: loaded, measure: latency, percent: 1}", bench.ModeHost, `no benchmark that matches "loaded" can have latency, driven by verify`},
		{"{benchmark: loaded, measure: map-memory, max: 1}", bench.ModeExact, ""},
		{"{benchmark: run, measure: instructions-path, max: 1}", bench.ModeExact, `can have instructions-path, driven by test_run`},
		{"{benchmark: wire, measure: instructions-path, max: 1}", bench.ModeExact, ""},
		{"{benchmark: traced, measure: instructions-path, max: 1}", bench.ModeExact, ""},
		{"{benchmark: wire, measure: cycles, max: 1}", bench.ModeHost, ""},
		{"{benchmark: traced, measure: contention, max: 1}", bench.ModeHost, `can have contention, driven by command`},
		{"{benchmark: sampled, measure: throughput, min: 1}", bench.ModeHost, `can have throughput, driven by perf_event`},
		{"{measure: bpf-insns, max: 1}", bench.ModeExact, ""},
		{"{measure: bpf-insns, max: 1}", bench.ModeHost, ""},
		{"{benchmark: loaded, measure: bpf-insns, max: 1}", bench.ModeHost, "can have bpf-insns, driven by verify"},
		// One for another mode is kept for that.
		{"{measure: latency, mode: host, max: 1}", bench.ModeExact, ""},
		// One benchmark that has it is enough.
		{"{measure: instructions, max: 1}", bench.ModeExact, ""},
		// One file may say for every mode how much a measure may grow.
		{"{measure: latency, percent: 1}", bench.ModeExact, ""},
	} {
		err := c.policy(t).Check(Scope{Benchmarks: suite, Modes: c.modes()})
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "t.yml:2: ")) {
			t.Errorf("%s in %q mode: %v, want %q", c.rule, c.mode, err, c.want)
		}
	}
	p := policy(t, "accept: [{benchmark: loaded, measure: latency, up_to: 1, until: 2027-01-31, reason: b}]\n")
	if err := p.Check(Scope{Benchmarks: suite}); err == nil {
		t.Error("an acceptance of what no benchmark can have")
	}
}

// If KVM was requested and is broken, instructions are counted: a budget of time has then
// not passed but could not be applied.
func TestUnjudgedSaysWhy(t *testing.T) {
	p := policy(t, "thresholds: [{measure: latency, max: 1}, {measure: xlated-bytes, max: 1}]\n")
	run := &bench.Run{Testbed: bench.Testbed{Mode: bench.ModeExact}, Results: []bench.Result{*exactPair("a", 0, 2).Head}}
	if got := p.Unjudged(run); len(got) != 1 || got[0] != (Gap{"a", "xlated-bytes", "not measured"}) {
		t.Errorf("%+v where exact mode is what was asked for", got)
	}
	if err := p.Check(Scope{Benchmarks: []Benchmark{{"a", "test_run"}}, Modes: []bench.Mode{bench.ModeKVM}}); err != nil {
		t.Fatal(err)
	}
	want := []Gap{
		{"a", "latency", "not measured: in exact mode instructions are counted, and nothing is timed"},
		{"a", "xlated-bytes", "not measured"},
	}
	if got := p.Unjudged(run); len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("%+v", got)
	}
}

// Results of other tools have other measures than a program.
func TestThresholdsOfIngestedResults(t *testing.T) {
	for _, c := range []struct {
		driver, measure string
		want            bool
	}{
		{"go", "latency", true}, {"go", "allocs", true}, {"go", "heap-bytes", true}, {"go", "records/op", true},
		{"go", "instructions", false}, {"go", "latency-raw", false}, {"go", "verified-insns", false},
		{"criterion", "latency", true}, {"criterion", "cycles/op", true}, {"criterion", "allocs", false},
		{"go", "hit-ratio", true}, {"go", "record/op", false}, {"go", "misses", false},
		{"test_run", "allocs", false}, {"test_run", "records/op", false}, {"test_run", "latency", true}, {"verify", "heap-bytes", false},
	} {
		p := policy(t, "thresholds: [{measure: "+c.measure+", percent: 1}]\n")
		err := p.Check(Scope{Benchmarks: []Benchmark{{Name: "a", Driver: c.driver}}, Units: []string{"records/op", "hit-ratio", "cycles/op"}})
		if (err == nil) != c.want {
			t.Errorf("%s of %s: %v", c.measure, c.driver, err)
		}
	}
}
