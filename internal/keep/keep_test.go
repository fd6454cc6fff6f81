package keep

import (
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/suite"
)

// A run of some benchmarks is stored with a suite of just these, which can be read again.
func TestTheSuiteOfAFilteredRun(t *testing.T) {
	text := "version: 1\nobjects: [a.o, b.o]\n# why\nbenchmarks:\n" +
		"  - {name: a, object: a.o, program: base, test_run: {}}\n  - {name: b, object: b.o, program: base, test_run: {}}\n"
	if got := onlyBenchmarks([]byte(text), map[string]bool{"a": true, "b": true}); string(got) != text {
		t.Errorf("a whole suite becomes %s", got)
	}
	s, err := suite.Load(suite.Memory(map[string][]byte{
		"s.yml": onlyBenchmarks([]byte(text), map[string]bool{"b": true}), "a.o": nil, "b.o": nil,
	}), "s.yml")
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Benchmarks) != 1 || s.Benchmarks[0].Name != "b" {
		t.Errorf("benchmarks %+v", s.Benchmarks)
	}
	for _, odd := range []string{"", "x", "- a", "version: 1", "benchmarks: x"} {
		if got := onlyBenchmarks([]byte(odd), nil); string(got) != odd {
			t.Errorf("%q becomes %q", odd, got)
		}
	}
}

// A run that is not fit to be compared with does not keep the others from being saved.
func TestEntries(t *testing.T) {
	sound := func() *bench.Run { return &bench.Run{Testbed: bench.Testbed{Mode: bench.ModeExact}} }
	partial, failed, shard := sound(), sound(), sound()
	partial.Partial = true
	failed.Results = []bench.Result{{Benchmark: "a", Error: "refused"}}
	shard.Shard = &bench.Shard{Part: 1, Of: 2}
	entries, err := Entries(&suite.Suite{}, []*bench.Run{sound(), partial, failed, shard, sound()}, Origin{Commit: "c"})
	if len(entries) != 2 {
		t.Errorf("%d entries", len(entries))
	}
	for _, want := range []string{"the run is partial", "a failed", "shard 1/2"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
}
